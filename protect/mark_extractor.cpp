// Reads watermarks, and checks for an encoder that all of one went into its video.
#include <numeric>
#include <optional>
#include <string>

#include "protect/mark_capacity.h"
#include "protect/mark_check.h"
#include "protect/mark_code.h"
#include "protect/marked_blocks.h"
#include "protect/payload.h"

namespace cu264::protect {
namespace {

// Records which of the bits that blocks draw from were in a stream.
class MarkCoverage {
 public:
  MarkCoverage(Marking marking, std::uint32_t frame_bytes) {
    if (marking == Marking::coded) code_.emplace(frame_bytes);
    seen_.resize(static_cast<std::size_t>(code_ ? code_->coded_bits() : 8 * std::uint64_t{frame_bytes}));
    if (!code_) return;
    open_groups_.resize(code_->groups());
    std::iota(open_groups_.begin(), open_groups_.end(), 0u);
    seen_of_group_.resize(code_->groups());
  }

  void add(std::uint32_t index) {
    if (seen_[index]) return;
    seen_[index] = true;
    ++found_;
    if (code_) ++seen_of_group_[index % code_->groups()];
  }

  // Says whether the whole frame follows from these bits.
  bool complete() {
    if (!code_) return found_ == seen_.size();
    std::erase_if(open_groups_, [this](std::uint32_t group) {
      return seen_of_group_[group] >= code_->bits(group) && code_->determines(group, seen_);
    });
    return open_groups_.empty();
  }

 private:
  std::optional<MarkCode> code_;
  std::vector<bool> seen_;
  std::size_t found_ = 0;
  std::vector<std::uint32_t> open_groups_, seen_of_group_;
};

class Extractor : public NalTool {
 public:
  explicit Extractor(const ProtectionKey& key) : key_(key) {}

  // Says whether all of the payload can be read from what was seen so far.
  bool complete() {
    if (!coverage_) coverage_.emplace(marking_, length_ + kMarkFrameHeaderBytes);
    for (; looked_at_ < votes_.size(); ++looked_at_) coverage_->add(votes_[looked_at_].first);
    return coverage_->complete();
  }

 private:
  bool message(const Message& message) override {
    refuse_encrypted(message);
    if (message.kind != MessageKind::watermark) return false;
    keys_ = checked_keys(key_, message);
    if (message.settings[0] > static_cast<std::uint8_t>(WatermarkScheme::t1_parity)) {
      throw Error(ErrorCode::bad_input, "the watermark's scheme is unknown", "the stream is damaged");
    }
    options_.scheme = static_cast<WatermarkScheme>(message.settings[0]);
    options_.density = 1u + (static_cast<std::uint32_t>(message.settings[1]) << 8 | message.settings[2]);
    length_ = 0;
    for (int i = 0; i < 4; ++i) length_ = length_ << 8 | message.settings[3 + i];
    if (length_ == 0 || length_ > kMaxPayloadBytes) damaged();
    if (message.settings[7] > static_cast<std::uint8_t>(Marking::coded)) {
      throw Error(ErrorCode::bad_input, "the watermark is spread in an unknown way", "use a later version");
    }
    marking_ = static_cast<Marking>(message.settings[7]);
    bits_ = 8 * std::uint64_t{length_ + kMarkFrameHeaderBytes};
    code_.reset();
    if (marking_ == Marking::coded) {
      if (length_ > kMaxCodedPayloadBytes) damaged();
      code_.emplace(length_ + kMarkFrameHeaderBytes);
      bits_ = code_->coded_bits();
    }
    votes_.clear();
    restart_pictures();
    return false;
  }

  std::unique_ptr<SliceJob> make_job() override {
    if (!keys_) {
      throw Error(ErrorCode::bad_input, "the stream holds no watermark, or its beginning is missing",
                  "only what cu264 marked can be read");
    }
    return mark_job(key_, keys_->nonce(), options_, marking_,
                    [this](const SliceBlocks& blocks, const Slice&, const Bytes& rbsp, int) {
                      for (const auto& candidate : blocks.candidates) read(blocks, candidate, rbsp);
                      return false;
                    });
  }

  void read(const SliceBlocks& blocks, const SliceBlocks::Candidate& candidate, const Bytes& rbsp) {
    const SliceBlocks::BlockPosition& position = blocks.positions[candidate.position];
    int bit = position.trailing_ones & 1;
    if (options_.scheme == WatermarkScheme::t1_sign)
      bit = bitstream::bit_at(rbsp, position.begin + position.token_length);
    const std::int8_t vote = (bit ^ candidate.flip) != 0 ? 1 : -1;
    const std::uint32_t index = marking_ == Marking::in_turn
                                    ? static_cast<std::uint32_t>(votes_.size() % bits_)
                                    : mark_index(candidate.first, position.slot - core::kSlotLuma,
                                                 static_cast<std::uint32_t>(bits_ / 8));
    votes_.push_back({index, vote});
  }

  Bytes end_stream() override {
    const std::size_t frame_bytes = std::size_t{length_} + kMarkFrameHeaderBytes;
    if (8 * frame_bytes > votes_.size()) damaged();  // the bits of the frame need as many votes
    std::vector<std::int32_t> sums(static_cast<std::size_t>(bits_));
    for (const auto& [index, vote] : votes_) sums[index] += vote;
    const std::optional<Bytes> frame = code_ ? code_->decode(sums) : majority(sums);
    if (!frame) damaged();
    Bytes payload(frame->begin() + kMarkFrameHeaderBytes, frame->end());
    if (mark_frame_of(payload) != *frame) damaged();
    return payload;
  }

  static Bytes majority(const std::vector<std::int32_t>& sums) {
    Bytes frame(sums.size() / 8);
    for (std::size_t i = 0; i < sums.size(); ++i)
      frame[i / 8] |= static_cast<std::uint8_t>((sums[i] > 0) << (7 - i % 8));
    return frame;
  }

  void add_counts(StreamCounts& counts) const override { counts.carriers = votes_.size(); }

  [[noreturn]] static void damaged() {
    throw Error(ErrorCode::bad_input, "the watermark cannot be read",
                "the stream was cut or changed after marking");
  }

  ProtectionKey key_;
  std::unique_ptr<StreamKeys> keys_;
  WatermarkOptions options_;
  std::uint32_t length_ = 0;  // length of the payload
  Marking marking_ = Marking::in_turn;
  std::optional<MarkCode> code_;
  std::uint64_t bits_ = 0;  // the number of those that blocks draw from
  std::vector<std::pair<std::uint32_t, std::int8_t>> votes_;
  std::optional<MarkCoverage> coverage_;
  std::size_t looked_at_ = 0;  // the number of elements of votes_ that coverage_ knows
};

}  // namespace

struct MarkCheck::Impl {
  Extractor extractor;
  std::uint32_t payload_bytes, density;
  WatermarkSpread spread;
  bool complete = false;
};

MarkCheck::MarkCheck(const ProtectionKey& key, ByteSpan parameter_sets, const MarkPlanner& marks)
    : impl_(new Impl{Extractor(key), marks.payload_bytes(), marks.density(),
                     marks.marking() == Marking::coded ? WatermarkSpread::coded : WatermarkSpread::drawn}) {
  impl_->extractor.parameter_sets(parameter_sets);
}

MarkCheck::~MarkCheck() = default;

void MarkCheck::picture(ByteSpan access_unit) {
  if (impl_->complete) return;
  impl_->extractor.access_units(access_unit);
  impl_->complete = impl_->extractor.complete();
}

void MarkCheck::finish() const {
  if (impl_->complete) return;
  throw Error(
      ErrorCode::bad_input,
      "the payload of " + std::to_string(impl_->payload_bytes) + " bytes is too large: this video can hold " +
          std::to_string(mark_capacity(impl_->extractor.counts().carriers, impl_->density, impl_->spread)),
      "a longer video, or a higher density, holds more");
}

}  // namespace cu264::protect

namespace cu264 {

std::unique_ptr<StreamTool> make_watermark_extractor(const ProtectionKey& key) {
  return std::make_unique<protect::Extractor>(key);
}

}  // namespace cu264
