// Watermarks in finished streams.
#include <algorithm>
#include <string>

#include "common/bitstream/splice.h"
#include "core/block.h"
#include "core/cavlc_block.h"
#include "core/cavlc_tables.h"
#include "cu264/status.h"
#include "protect/mark_check.h"
#include "protect/mark_planner.h"
#include "protect/nal_tool.h"
#include "protect/payload.h"
#include "protect/prediction_map.h"
#include "protect/watermark.h"

namespace cu264::protect {
namespace {

// Levels beyond this may need escapes that core/cavlc_block.h does not write; blocks with such levels carry
// nothing.
constexpr int kMaxMarkedLevel = 2000;

// The parts of a slice that marking needs: where all its blocks lie, and the levels of those that may carry a
// bit.
class SliceBlocks : public MacroblockVisitor {
 public:
  struct Place {
    std::uint64_t begin;
    int mb;
    std::uint16_t length;
    std::uint8_t slot, column, token_length, total_coeff, trailing_ones;
  };
  struct Candidate {
    std::size_t place;
    std::uint8_t max_num_coeff;
    std::uint8_t flip;    // mark_flip
    std::uint32_t first;  // the first index of mark_index
    std::int16_t levels[16];
  };
  struct Pcm {
    std::uint64_t at;
    int mb, alignment;
  };

  void begin_slice(const Slice& slice, const StreamKeys& keys, WatermarkOptions options, Marking marking) {
    map_.begin_slice(slice.sets.sps.mb_width, slice.sets.sps.macroblocks(), slice.header.first_mb);
    places.clear(), candidates.clear(), pcm.clear();
    keys_ = &keys, options_ = options, picture_ = slice.picture, marking_ = marking;
  }

  void macroblock(const MacroblockSyntax& mb) override {
    map_.add(mb);
    if (mb.kind == IntraKind::pcm) pcm.push_back({mb.pcm_at, mb.address, mb.pcm_alignment});
    const std::size_t first = candidates.size();
    for (int i = 0; i < mb.block_count; ++i) {
      const BlockSyntax& block = mb.blocks[i];
      places.push_back({block.begin, mb.address, block.length, block.slot, block.column, block.token_length,
                        block.total_coeff, block.trailing_ones});
      if (may_carry(block)) add_candidate(block);
    }
    choose(first, mb.address);
  }

  // To be called once, after the last macroblock.
  void keep_free_ones() {
    if (marking_ == kMarkedByEncoder) return;
    std::erase_if(candidates, [this](const Candidate& candidate) {
      const Place& place = places[candidate.place];
      return !map_.is_free(place.mb, place.slot - core::kSlotLuma);
    });
  }

  std::vector<Place> places;
  std::vector<Candidate> candidates;
  std::vector<Pcm> pcm;

 private:
  bool may_carry(const BlockSyntax& block) const {
    if (block.slot < core::kSlotLuma || block.slot >= core::kSlotChromaDc || block.total_coeff == 0)
      return false;
    if (options_.scheme == WatermarkScheme::t1_sign) return block.trailing_ones != 0;
    if (marking_ == kMarkedByEncoder) return true;
    return std::all_of(block.levels, block.levels + block.total_coeff, [](const LevelCode& code) {
      return code.level <= kMaxMarkedLevel && code.level >= -kMaxMarkedLevel;
    });
  }

  void add_candidate(const BlockSyntax& block) {
    Candidate& candidate = candidates.emplace_back();
    candidate.place = places.size() - 1;
    candidate.max_num_coeff = block.max_num_coeff;
    std::fill_n(candidate.levels, 16, std::int16_t{0});
    int position = block.total_coeff + block.total_zeros - 1;
    for (int i = 0; i < block.total_coeff; ++i) {
      // Larger levels are clipped; they occur only where the levels are not looked at.
      candidate.levels[position] =
          static_cast<std::int16_t>(std::clamp(block.levels[i].level, -32768, 32767));
      if (i + 1 == block.total_coeff) break;
      position -= 1 + (i < block.coded_runs ? block.run_before[i] : 0);
    }
  }

  // Keeps those of the macroblock's candidates, which begin at `first`, that the keystream picks.
  void choose(std::size_t first, int mb) {
    if (first == candidates.size()) return;
    AesBlock blocks[2];
    for (std::uint32_t i = 0; i < 2; ++i)
      blocks[i] = mark_counter(keys_->nonce(), picture_, static_cast<std::uint32_t>(mb), i);
    keys_->keystream(blocks);
    const MarkKey key = {blocks[0], blocks[1]};
    std::size_t kept = first;
    for (std::size_t i = first; i < candidates.size(); ++i) {
      const int block = places[candidates[i].place].slot - core::kSlotLuma;
      if (!mark_chooses(key, block, options_.density)) continue;
      candidates[kept] = candidates[i];
      candidates[kept].flip = static_cast<std::uint8_t>(mark_flip(key, block));
      candidates[kept++].first = key.draw.words[0];
    }
    candidates.resize(kept);
  }

  PredictionMap map_;
  const StreamKeys* keys_ = nullptr;
  WatermarkOptions options_;
  Marking marking_ = kMarkedLater;
  std::uint32_t picture_ = 0;
};

// Finds the blocks of a slice that carry a bit, and passes them to `finish`.
template <class Finish>
class MarkJob : public SliceJob {
 public:
  MarkJob(const ProtectionKey& key, std::uint64_t nonce, WatermarkOptions options, Marking marking,
          Finish finish)
      : keys_(key, nonce), options_(options), marking_(marking), finish_(finish) {}

  void run() override {
    blocks_.begin_slice(slice, keys_, options_, marking_);
    parse(blocks_);
    blocks_.keep_free_ones();
  }
  bool finish() override { return finish_(blocks_, slice, rbsp, next_address()); }

 private:
  StreamKeys keys_;
  WatermarkOptions options_;
  Marking marking_;
  Finish finish_;
  SliceBlocks blocks_;
};

template <class Finish>
std::unique_ptr<SliceJob> mark_job(const ProtectionKey& key, std::uint64_t nonce, WatermarkOptions options,
                                   Marking marking, Finish finish) {
  return std::make_unique<MarkJob<Finish>>(key, nonce, options, marking, finish);
}

void refuse_encrypted(const Message& message) {
  if (message.kind == MessageKind::encryption) {
    throw Error(ErrorCode::bad_input, "the stream is encrypted", "decrypt it first");
  }
}

class Embedder : public NalTool {
 public:
  Embedder(const ProtectionKey& key, const WatermarkOptions& options, ByteSpan payload)
      : key_(key), options_(options), keys_(key, random_nonce()), frame_(mark_frame_of(payload)) {
    if (options.density < 1 || options.density > 65536) {
      throw Error(ErrorCode::invalid_argument, "the density is out of its range", "1 to 65536");
    }
  }

 private:
  bool message(const Message& message) override {
    refuse_encrypted(message);
    if (message.kind == MessageKind::watermark) {
      throw Error(ErrorCode::bad_input, "the stream holds a watermark already", "take one that holds none");
    }
    return false;
  }

  Bytes begin_picture() override {
    if (picture() != 0) return {};
    return mark_message(keys_, options_, frame_, kMarkedLater);
  }

  std::unique_ptr<SliceJob> make_job() override {
    return mark_job(key_, keys_.nonce(), options_, kMarkedLater,
                    [this](SliceBlocks& blocks, const Slice& slice, Bytes& rbsp, int next_address) {
                      if (options_.scheme == WatermarkScheme::t1_sign) return mark_signs(blocks, rbsp);
                      return mark_parities(blocks, slice, rbsp, next_address);
                    });
  }

  // The blocks of the stream carry the frame's bits in turn.
  int next_bit(const SliceBlocks::Candidate& candidate) {
    const auto index = static_cast<std::uint32_t>(carriers_++ % (8 * frame_.size()));
    return frame_bit(frame_.data(), index) ^ candidate.flip;
  }

  bool mark_signs(const SliceBlocks& blocks, Bytes& rbsp) {
    for (const auto& candidate : blocks.candidates) {
      const SliceBlocks::Place& place = blocks.places[candidate.place];
      bitstream::set_bits(rbsp, place.begin + place.token_length, 1,
                          static_cast<std::uint64_t>(next_bit(candidate)));
    }
    return true;
  }

  // A block's number of levels may change, and with it the coeff_token tables of its neighbours.
  bool mark_parities(SliceBlocks& blocks, const Slice& slice, Bytes& rbsp, int next_address) {
    std::vector<SliceBlocks::Candidate> changed;
    for (auto& candidate : blocks.candidates) {
      if (mark_levels(candidate.levels, candidate.max_num_coeff, true, next_bit(candidate)))
        changed.push_back(candidate);
    }
    totals_.begin_slice(slice.sets.sps.mb_width, slice.sets.sps.macroblocks(), slice.header.first_mb);
    bitstream::Splice splice(rbsp, 2 * rbsp.size() + 64 * changed.size());
    auto next = changed.cbegin();
    auto pcm = blocks.pcm.cbegin();
    int mb = slice.header.first_mb - 1;
    const auto pass_macroblocks = [&](int until) {
      while (mb < until) {
        totals_.begin_macroblock(++mb);
        if (pcm == blocks.pcm.cend() || pcm->mb != mb) continue;
        totals_.set_all(16);
        splice.copy_to(pcm->at);
        splice.leave_out(static_cast<std::uint64_t>(pcm->alignment));
        splice.writer().put(0, static_cast<int>(-splice.writer().bit_position() & 7));
        ++pcm;
      }
    };
    for (std::size_t i = 0; i < blocks.places.size(); ++i) {
      const SliceBlocks::Place& place = blocks.places[i];
      pass_macroblocks(place.mb);
      const bool is_changed = next != changed.cend() && next->place == i;
      rewrite(splice, place, is_changed ? &*next : nullptr);
      if (is_changed) ++next;
    }
    pass_macroblocks(next_address - 1);
    rbsp = splice.finish(slice.stop);
    return true;
  }

  void rewrite(bitstream::Splice& splice, const SliceBlocks::Place& place,
               const SliceBlocks::Candidate* changed) {
    const int nC = totals_.nC(place.slot), column = core::coeff_token_column(nC);
    int total_coeff = place.total_coeff;
    if (changed != nullptr) {
      const core::CavlcSymbols symbols = core::cavlc_symbols(changed->levels, changed->max_num_coeff);
      total_coeff = symbols.total_coeff;
      splice.copy_to(place.begin);
      splice.leave_out(place.length);
      core::put_block(splice.writer(), changed->levels, symbols, changed->max_num_coeff, nC);
    } else if (column != place.column) {
      splice.copy_to(place.begin);
      splice.leave_out(place.token_length);
      core::put_code(splice.writer(), core::coeff_token_code(column, place.total_coeff, place.trailing_ones));
    }
    if (place.slot != core::kSlotLumaDc) totals_.set(place.slot, total_coeff);
  }

  Bytes end_stream() override {
    if (carriers_ >= 8 * frame_.size()) return {};
    const std::uint64_t room = carriers_ / 8;
    throw Error(ErrorCode::bad_input,
                "the payload of " + std::to_string(frame_.size() - kMarkFrameHeaderBytes) +
                    " bytes is too large: this stream can hold " +
                    std::to_string(room < kMarkFrameHeaderBytes ? 0 : room - kMarkFrameHeaderBytes),
                "a longer stream, or a higher density, holds more");
  }

  void add_counts(StreamCounts& counts) const override { counts.carriers = carriers_; }

  ProtectionKey key_;
  WatermarkOptions options_;
  StreamKeys keys_;
  Bytes frame_;
  TotalCoeffs totals_;
  std::uint64_t carriers_ = 0;
};

class Extractor : public NalTool {
 public:
  explicit Extractor(const ProtectionKey& key) : key_(key) {}

  // Returns how many bits of the frame nothing has carried so far.
  std::uint64_t missing() {
    if (seen_.empty()) seen_.resize(8 * std::uint64_t{length_ + kMarkFrameHeaderBytes});
    for (; looked_at_ < votes_.size(); ++looked_at_) {
      found_ += !seen_[votes_[looked_at_].first];
      seen_[votes_[looked_at_].first] = true;
    }
    return seen_.size() - found_;
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
    marking_ = message.settings[7] == kMarkedByEncoder ? kMarkedByEncoder : kMarkedLater;
    votes_.clear();
    restart_pictures();
    return false;
  }

  std::unique_ptr<SliceJob> make_job() override {
    if (!keys_) {
      throw Error(ErrorCode::bad_input, "the stream holds no watermark, or its begin is missing",
                  "only what cu264 marked can be read");
    }
    return mark_job(key_, keys_->nonce(), options_, marking_,
                    [this](const SliceBlocks& blocks, const Slice&, const Bytes& rbsp, int) {
                      for (const auto& candidate : blocks.candidates) read(blocks, candidate, rbsp);
                      return false;
                    });
  }

  void read(const SliceBlocks& blocks, const SliceBlocks::Candidate& candidate, const Bytes& rbsp) {
    const SliceBlocks::Place& place = blocks.places[candidate.place];
    int bit = place.trailing_ones & 1;
    if (options_.scheme == WatermarkScheme::t1_sign)
      bit = bitstream::bit_at(rbsp, place.begin + place.token_length);
    const std::int8_t vote = (bit ^ candidate.flip) != 0 ? 1 : -1;
    const std::uint32_t bytes = length_ + kMarkFrameHeaderBytes;
    const std::uint32_t index = marking_ == kMarkedLater
                                    ? static_cast<std::uint32_t>(votes_.size() % (8 * std::uint64_t{bytes}))
                                    : mark_index(candidate.first, place.slot - core::kSlotLuma, bytes);
    votes_.push_back({index, vote});
  }

  Bytes end_stream() override {
    const std::uint64_t frame_bits = 8 * std::uint64_t{length_ + kMarkFrameHeaderBytes};
    if (frame_bits > votes_.size()) damaged();  // each bit has at least one vote
    std::vector<std::int32_t> sums(frame_bits);
    for (const auto& [index, vote] : votes_) sums[index] += vote;
    Bytes frame(frame_bits / 8);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      frame[i / 8] |= static_cast<std::uint8_t>((sums[i] > 0) << (7 - i % 8));
    }
    Bytes payload(frame.begin() + kMarkFrameHeaderBytes, frame.end());
    if (mark_frame_of(payload) != frame) damaged();
    return payload;
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
  Marking marking_ = kMarkedLater;
  std::vector<std::pair<std::uint32_t, std::int8_t>> votes_;
  std::vector<bool> seen_;
  std::size_t looked_at_ = 0;  // the number of elements of votes_ that were counted
  std::uint64_t found_ = 0;
};

}  // namespace

struct MarkCheck::Impl {
  Extractor extractor;
  std::size_t payload_bytes;
  bool complete = false;
};

MarkCheck::MarkCheck(const ProtectionKey& key, ByteSpan parameter_sets, const MarkPlanner& marks)
    : impl_(new Impl{Extractor(key), marks.frame().size() - kMarkFrameHeaderBytes}) {
  impl_->extractor.parameter_sets(parameter_sets);
}

MarkCheck::~MarkCheck() = default;

void MarkCheck::picture(ByteSpan access_unit) {
  if (impl_->complete) return;
  impl_->extractor.access_units(access_unit);
  impl_->complete = impl_->extractor.missing() == 0;
}

void MarkCheck::finish() const {
  if (impl_->complete) return;
  throw Error(ErrorCode::bad_input,
              "the payload of " + std::to_string(impl_->payload_bytes) +
                  " bytes is too large: this video can hold " +
                  std::to_string(mark_capacity(impl_->extractor.counts().carriers)),
              "a longer video, or a higher density, holds more");
}
}  // namespace cu264::protect

namespace cu264 {

std::unique_ptr<StreamTool> make_watermark_embedder(const ProtectionKey& key, const WatermarkOptions& options,
                                                    std::span<const std::uint8_t> payload) {
  return std::make_unique<protect::Embedder>(key, options, payload);
}

std::unique_ptr<StreamTool> make_watermark_extractor(const ProtectionKey& key) {
  return std::make_unique<protect::Extractor>(key);
}

}  // namespace cu264
