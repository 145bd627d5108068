// Embeds watermarks in finished streams.
#include "common/bitstream/splice.h"
#include "core/cavlc_block.h"
#include "core/cavlc_tables.h"
#include "protect/marked_blocks.h"
#include "protect/payload.h"

namespace cu264::protect {
namespace {

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
    return mark_message(keys_, options_, static_cast<std::uint32_t>(frame_.size()) - kMarkFrameHeaderBytes,
                        Marking::in_turn);
  }

  std::unique_ptr<SliceJob> make_job() override {
    return mark_job(key_, keys_.nonce(), options_, Marking::in_turn,
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
      const SliceBlocks::BlockPosition& position = blocks.positions[candidate.position];
      bitstream::set_bits(rbsp, position.begin + position.token_length, 1,
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
    for (std::size_t i = 0; i < blocks.positions.size(); ++i) {
      const SliceBlocks::BlockPosition& position = blocks.positions[i];
      pass_macroblocks(position.mb);
      const bool is_changed = next != changed.cend() && next->position == i;
      rewrite(splice, position, is_changed ? &*next : nullptr);
      if (is_changed) ++next;
    }
    pass_macroblocks(next_address - 1);
    rbsp = splice.finish(slice.stop);
    return true;
  }

  void rewrite(bitstream::Splice& splice, const SliceBlocks::BlockPosition& position,
               const SliceBlocks::Candidate* changed) {
    const int nC = totals_.nC(position.slot), column = core::coeff_token_column(nC);
    int total_coeff = position.total_coeff;
    if (changed != nullptr) {
      const core::CavlcSymbols symbols = core::cavlc_symbols(changed->levels, changed->max_num_coeff);
      total_coeff = symbols.total_coeff;
      splice.copy_to(position.begin);
      splice.leave_out(position.length);
      core::put_block(splice.writer(), changed->levels, symbols, changed->max_num_coeff, nC);
    } else if (column != position.column) {
      splice.copy_to(position.begin);
      splice.leave_out(position.token_length);
      core::put_code(splice.writer(),
                     core::coeff_token_code(column, position.total_coeff, position.trailing_ones));
    }
    if (position.slot != core::kSlotLumaDc) totals_.set(position.slot, total_coeff);
  }

  Bytes end_stream() override {
    check_room(frame_, kMarkFrameHeaderBytes, carriers_, "a longer stream, or a higher density, holds more");
    return {};
  }

  void add_counts(StreamCounts& counts) const override { counts.carriers = carriers_; }

  ProtectionKey key_;
  WatermarkOptions options_;
  StreamKeys keys_;
  Bytes frame_;
  TotalCoeffs totals_;
  std::uint64_t carriers_ = 0;
};

}  // namespace
}  // namespace cu264::protect

namespace cu264 {

std::unique_ptr<StreamTool> make_watermark_embedder(const ProtectionKey& key, const WatermarkOptions& options,
                                                    std::span<const std::uint8_t> payload) {
  return std::make_unique<protect::Embedder>(key, options, payload);
}

}  // namespace cu264
