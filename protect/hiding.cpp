// Data hidden in level suffixes (after Xu et al.). A suffix of two bits or more ends in the bit of the
// level's parity and the bit of its sign. The first carries the data: neither the length of its code nor the
// next suffixLength changes, because no threshold of 9.2.2.1 lies between the two magnitudes. The second
// belongs to encryption, so that data and encryption do not interfere.
#include <algorithm>
#include <vector>

#include "core/block.h"
#include "cu264/status.h"
#include "protect/nal_tool.h"
#include "protect/payload.h"
#include "protect/stream_verifier.h"

namespace cu264::protect {
namespace {

// Gives one bit for each carrier of the stream, in the carriers' order.
class BitMask {
 public:
  explicit BitMask(const StreamKeys& keys) : keys_(keys) {}
  int next() {
    if (at_ == kBits) {
      for (std::uint32_t i = 0; i < kBlocks; ++i) {
        blocks_[i] = keystream_counter(keys_.nonce(), batch_, 0, KeystreamUse::hidden_data, i);
      }
      keys_.keystream(blocks_);
      ++batch_;
      at_ = 0;
    }
    const int bit = static_cast<int>(blocks_[at_ / 128].words[at_ % 128 / 32] >> (at_ % 32) & 1);
    ++at_;
    return bit;
  }

 private:
  static constexpr std::uint32_t kBlocks = 32, kBits = 128 * kBlocks;
  const StreamKeys& keys_;
  AesBlock blocks_[kBlocks] = {};
  std::uint32_t batch_ = 0, at_ = kBits;
};

// Finds the bits of a slice that can carry data, and passes their positions to `finish` in their order.
template <class Finish>
class CarrierJob : public SliceJob, private MacroblockVisitor {
 public:
  explicit CarrierJob(Finish finish) : finish_(finish) {}
  void run() override {
    carriers_.clear();
    parse(*this);
  }
  bool finish() override { return finish_(rbsp, carriers_); }

 private:
  void macroblock(const MacroblockSyntax& mb) override {
    for (int i = 0; i < mb.block_count; ++i) {
      const BlockSyntax& block = mb.blocks[i];
      // Blocks of DC levels alone are skipped, because a change is most visible there.
      if (block.max_num_coeff == 4 || block.slot == core::kSlotLumaDc) continue;
      for (int j = block.trailing_ones; j < block.total_coeff; ++j) {
        const LevelCode& code = block.levels[j];
        if (code.suffix_length >= 2) carriers_.push_back(block.begin + code.end - 2);
      }
    }
  }

  Finish finish_;
  std::vector<std::uint64_t> carriers_;
};

template <class Finish>
std::unique_ptr<SliceJob> carrier_job(Finish finish) {
  return std::make_unique<CarrierJob<Finish>>(finish);
}

class Hider : public NalTool {
 public:
  Hider(const ProtectionKey& key, ByteSpan payload)
      : keys_(key, random_nonce()), mask_(keys_), frame_(frame_of(payload)) {}

 private:
  bool message(const Message& message) override {
    if (message.kind == MessageKind::hidden_data) {
      throw Error(ErrorCode::bad_input, "the stream hides data already", "take one that hides none");
    }
    const bool authenticated =
        message.kind == MessageKind::encryption && (message.settings[1] & kAuthenticated) != 0;
    if (authenticated || message.kind == MessageKind::authentication ||
        message.kind == MessageKind::stream_end) {
      throw Error(ErrorCode::bad_input, "the stream is authenticated: changed, it could not be decrypted",
                  "hide the data before encrypting, or encrypt without authentication");
    }
    return false;
  }
  Bytes begin_picture() override {
    return picture() == 0 ? message_nal(new_message(MessageKind::hidden_data, keys_, {})) : Bytes{};
  }
  std::unique_ptr<SliceJob> make_job() override {
    return carrier_job([this](Bytes& rbsp, const std::vector<std::uint64_t>& carriers) {
      const std::uint64_t bits = 8 * frame_.size();
      for (std::size_t i = 0; i < carriers.size() && carriers_ + i < bits; ++i) {
        const int bit = bitstream::bit_at(frame_, carriers_ + i) ^ mask_.next();
        bitstream::set_bits(rbsp, carriers[i], 1, static_cast<std::uint64_t>(bit));
      }
      carriers_ += carriers.size();
      return true;
    });
  }
  Bytes end_stream() override {
    check_room(frame_, kFrameHeaderBytes, carriers_,
               "a longer stream, or one coded at a lower QP, holds more");
    return {};
  }

  void add_counts(StreamCounts& counts) const override { counts.carriers = carriers_; }

  StreamKeys keys_;
  BitMask mask_;
  Bytes frame_;
  std::uint64_t carriers_ = 0;
};

class HiddenReader : public NalTool {
 public:
  explicit HiddenReader(const ProtectionKey& key) : key_(key) {}

 private:
  bool message(const Message& message) override {
    if (message.kind != MessageKind::hidden_data) return false;
    keys_ = checked_keys(key_, message);
    mask_.emplace(*keys_);
    frame_.clear(), bits_ = 0, wanted_ = 8 * kFrameHeaderBytes;
    return false;
  }
  std::unique_ptr<SliceJob> make_job() override {
    if (!keys_) {
      throw Error(ErrorCode::bad_input, "the stream hides no data, or its beginning is missing",
                  "only what cu264 has hidden can be read");
    }
    return carrier_job([this](const Bytes& rbsp, const std::vector<std::uint64_t>& carriers) {
      for (const std::uint64_t position : carriers) read(bitstream::bit_at(rbsp, position));
      return false;
    });
  }
  void read(int carried) {
    if (bits_ == wanted_) return;
    if (bits_ % 8 == 0) frame_.push_back(0);
    frame_.back() = static_cast<std::uint8_t>(frame_.back() | (carried ^ mask_->next()) << (7 - bits_ % 8));
    if (++bits_ != 8 * kFrameHeaderBytes) return;
    header_ = read_frame_header(frame_);
    if (header_.length == 0 || header_.length > kMaxPayloadBytes) damaged();
    wanted_ += 8 * std::uint64_t{header_.length};
  }
  Bytes end_stream() override {
    if (bits_ != wanted_) damaged();
    Bytes payload(frame_.begin() + kFrameHeaderBytes, frame_.end());
    if (crc32(payload) != header_.crc) damaged();
    return payload;
  }
  void add_counts(StreamCounts& counts) const override { counts.carriers = bits_; }

  [[noreturn]] static void damaged() {
    throw Error(ErrorCode::bad_input, "the hidden data cannot be read",
                "the stream was cut or changed after the data was hidden");
  }

  ProtectionKey key_;
  std::unique_ptr<StreamKeys> keys_;
  std::optional<BitMask> mask_;
  Bytes frame_;
  FrameHeader header_;
  std::uint64_t bits_ = 0, wanted_ = 8 * kFrameHeaderBytes;
};

}  // namespace
}  // namespace cu264::protect

namespace cu264 {

std::unique_ptr<StreamTool> make_hider(const ProtectionKey& key, std::span<const std::uint8_t> payload) {
  return std::make_unique<protect::Hider>(key, payload);
}

std::unique_ptr<StreamTool> make_hidden_reader(const ProtectionKey& key) {
  return std::make_unique<protect::HiddenReader>(key);
}

}  // namespace cu264
