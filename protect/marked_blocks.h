// Finds the blocks of a slice that carry a bit of a watermark, for the tools that embed one, read one, or
// count how many there are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/block.h"
#include "cu264/status.h"
#include "protect/mark_planner.h"
#include "protect/nal_tool.h"
#include "protect/prediction_map.h"
#include "protect/watermark.h"

namespace cu264::protect {

// Levels beyond this may need escapes that core/cavlc_block.h does not write; blocks with such levels carry
// nothing.
inline constexpr int kMaxMarkedLevel = 2000;

// The parts of a slice that marking needs: where all its blocks lie, and the levels of those that may carry a
// bit.
class SliceBlocks : public MacroblockVisitor {
 public:
  struct BlockPosition {
    std::uint64_t begin;
    int mb;
    std::uint16_t length;
    std::uint8_t slot, column, token_length, total_coeff, trailing_ones;
  };
  struct Candidate {
    std::size_t position;
    std::uint8_t max_num_coeff;
    std::uint8_t flip;    // mark_flip
    std::uint32_t first;  // the first index of mark_index
    std::int16_t levels[16];
  };
  struct Pcm {
    std::uint64_t at;
    int mb, alignment;
  };

  // Without keys all blocks that can carry a bit are found, whatever the density.
  void begin_slice(const Slice& slice, const StreamKeys* keys, WatermarkOptions options, Marking marking) {
    map_.begin_slice(slice.sets.sps.mb_width, slice.sets.sps.macroblocks(), slice.header.first_mb);
    positions.clear(), candidates.clear(), pcm.clear();
    keys_ = keys, options_ = options, picture_ = slice.picture, marking_ = marking;
  }

  void macroblock(const MacroblockSyntax& mb) override {
    map_.add(mb);
    if (mb.kind == IntraKind::pcm) pcm.push_back({mb.pcm_at, mb.address, mb.pcm_alignment});
    const std::size_t first = candidates.size();
    for (int i = 0; i < mb.block_count; ++i) {
      const BlockSyntax& block = mb.blocks[i];
      positions.push_back({block.begin, mb.address, block.length, block.slot, block.column,
                           block.token_length, block.total_coeff, block.trailing_ones});
      if (may_carry(block)) add_candidate(block);
    }
    if (keys_ != nullptr) choose(first, mb.address);
  }

  // Call this once, after the last macroblock.
  void keep_free_ones() {
    if (marking_ != Marking::in_turn) return;
    std::erase_if(candidates, [this](const Candidate& candidate) {
      const BlockPosition& position = positions[candidate.position];
      return !map_.is_free(position.mb, position.slot - core::kSlotLuma);
    });
  }

  std::vector<BlockPosition> positions;
  std::vector<Candidate> candidates;
  std::vector<Pcm> pcm;

 private:
  bool may_carry(const BlockSyntax& block) const {
    if (block.slot < core::kSlotLuma || block.slot >= core::kSlotChromaDc || block.total_coeff == 0)
      return false;
    if (options_.scheme == WatermarkScheme::t1_sign) return block.trailing_ones != 0;
    if (marking_ != Marking::in_turn) return true;
    return std::all_of(block.levels, block.levels + block.total_coeff, [](const LevelCode& code) {
      return code.level <= kMaxMarkedLevel && code.level >= -kMaxMarkedLevel;
    });
  }

  void add_candidate(const BlockSyntax& block) {
    Candidate& candidate = candidates.emplace_back();
    candidate.position = positions.size() - 1;
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
      const int block = positions[candidates[i].position].slot - core::kSlotLuma;
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
  Marking marking_ = Marking::in_turn;
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
    blocks_.begin_slice(slice, &keys_, options_, marking_);
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

inline void refuse_encrypted(const Message& message) {
  if (message.kind == MessageKind::encryption) {
    throw Error(ErrorCode::bad_input, "the stream is encrypted", "decrypt it first");
  }
}

}  // namespace cu264::protect
