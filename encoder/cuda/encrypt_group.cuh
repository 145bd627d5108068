// A warp encrypts a group of macroblocks:
//   survey     a macroblock a lane: what of the keystream its blocks need; its blocks that are not empty are
//              listed
//   keystream  an AES block a lane
//   levels     a listed block a lane
// As many macroblocks at a time as there is room for their keystream. Before that, the modes: a macroblock a
// lane, whose modes need one AES block.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

#include "encoder/cuda/encrypt.h"
#include "entropy/cavlc/block_coder.cuh"
#include "entropy/cavlc/block_list.cuh"
#include "entropy/cavlc/group_bits.h"
#include "entropy/cavlc/macroblock_lane.cuh"
#include "protect/cuda/aes_table.cuh"
#include "protect/level_cipher.h"

namespace cu264::encoder::cuda {

struct EncryptShared {
  static constexpr int kAesBlocks = 120, kListed = 512;

  std::uint32_t keys[4 * kAesBlocks];
  uint4 layouts[32];            // protect::KeyLayout of a macroblock, and the first of its AES blocks
  std::uint16_t list[kListed];  // macroblock << 5 | slot
  union {
    std::uint16_t counters[kAesBlocks];  // macroblock << 5 | AES block
    std::uint32_t levels[2][8][32];      // before and after, two a word; a column a lane
  };
};
static_assert(EncryptShared::kAesBlocks >= protect::kMostKeyBlocks &&
              EncryptShared::kListed >= core::kBlocksPerMacroblock);

// A lane's block in shared memory.
class LevelColumn {
 public:
  __device__ LevelColumn(std::uint32_t (&s_words)[8][32], int lane)
      : s_levels_(reinterpret_cast<std::int16_t*>(&s_words[0][lane])) {}
  __device__ int operator[](int k) const { return s_levels_[at(k)]; }
  __device__ void put(int k, int level) const { s_levels_[at(k)] = static_cast<std::int16_t>(level); }

 private:
  __device__ static int at(int k) { return (k >> 1) * 64 + (k & 1); }

  std::int16_t* const s_levels_;
};

template <class AesTable>
class GroupCipher {
 public:
  __device__ GroupCipher(const BatchView& batch, const EncryptionPlan& plan, std::uint32_t first_picture,
                         const entropy::Group& group, EncryptShared& shared, const AesTable& aes, int lane)
      : batch_(batch),
        plan_(plan),
        picture_(first_picture + static_cast<std::uint32_t>(group.picture)),
        group_first_(group.first),
        first_mb_(static_cast<std::size_t>(group.picture) * batch.macroblocks_per_picture() + group.first),
        d_levels_(reinterpret_cast<uint4*>(batch.levels + first_mb_ * core::kLevelsPerMacroblock)),
        s_(shared),
        aes_(aes),
        lane_(lane) {}

  // All lanes.
  __device__ void run(const entropy::MacroblockLane& mb) {
    if (plan_.parts.modes) modes(mb);
    if (plan_.parts.signs || plan_.parts.codewords) levels(mb);
  }

 private:
  __device__ protect::AesBlock keystream(int m, std::uint32_t block) const {
    return aes_.encrypt(plan_.key, protect::keystream_counter(plan_.nonce, picture_,
                                                              static_cast<std::uint32_t>(group_first_ + m),
                                                              protect::kKeystreamEncryption, block));
  }

  __device__ void modes(const entropy::MacroblockLane& mb) const {
    const protect::AesBlock key = keystream(lane_, protect::kKeystreamModes);
    if (!mb.exists) return;
    const core::MacroblockRecord* const d_own = batch_.macroblocks + first_mb_ + lane_;
    const core::MacroblockRecord* const left = mb.edges.no_left ? nullptr : d_own - 1;
    const core::MacroblockRecord* const above = mb.edges.no_above ? nullptr : d_own - batch_.mb_width;
    core::MacroblockRecord record = mb.record;
    protect::encrypt_other_modes(record, left != nullptr, above != nullptr, key);
    const bool luma = record.kind == core::MacroblockKind::intra4x4;
    if (luma) {
      mb.each_quad_of_modes(batch_, [&](int i, std::uint32_t modes, std::uint32_t predicted) {
        const entropy::QuadCodes codes = entropy::quad_codes(modes, predicted);
        // As if there were neighbours everywhere.
        const std::uint32_t rem = codes.rem ^ (key.words[i] & 0x07070707u);
        const std::uint32_t differs = codes.differs * 0xff;
        const std::uint32_t quad = (rem & differs) | ~differs;
        static_assert(core::kPredictedMode == 0xff);
        std::memcpy(record.intra4x4_pred_mode + 4 * i, &quad, sizeof(quad));
      });
    }
    core::MacroblockRecord* const d_out = plan_.macroblocks + first_mb_ + lane_;
    uint4 parts[2];
    std::memcpy(parts, &record, sizeof(record));
    reinterpret_cast<uint4*>(d_out)[0] = parts[0], reinterpret_cast<uint4*>(d_out)[1] = parts[1];
    if (!luma || (left != nullptr && above != nullptr)) return;
#pragma unroll 1
    for (int block = 0; block < 16; ++block) {
      const std::uint32_t word = block < 8 ? key.words[block < 4 ? 0 : 1] : key.words[block < 12 ? 2 : 3];
      d_out->intra4x4_pred_mode[block] = static_cast<std::uint8_t>(
          protect::encrypted_mode_code(*d_own, left, above, block, word >> (8 * (block & 3)) & 255));
    }
  }

  __device__ void levels(const entropy::MacroblockLane& mb) {
    intra16x16_ = __ballot_sync(0xffffffffu, mb.exists && mb.record.kind == core::MacroblockKind::intra16x16);
    protect::KeyLayout layout;
    std::uint32_t from2 = 0;
    if (mb.exists) {
      const entropy::Counts counts = mb.counts(batch_);
      layout.nonzero = mb.nonzero();
      from2 = layout.nonzero & entropy::slots_from(counts, 2);
      layout.from4 = layout.nonzero & entropy::slots_from(counts, 4);
      layout.from7 = layout.nonzero & entropy::slots_from(counts, 7);
    }
    const int blocks = layout.aes_blocks();
    const auto needs = static_cast<std::uint32_t>(blocks << 16 | core::count_ones(layout.nonzero));
    for (int begin = 0; begin < 32;) {
      std::uint32_t ends = lane_ >= begin ? needs : 0;
#pragma unroll
      for (int step = 1; step < 32; step *= 2) {
        const std::uint32_t before = __shfl_up_sync(0xffffffffu, ends, step);
        if (lane_ >= step) ends += before;
      }
      const bool fits = ends >> 16 <= EncryptShared::kAesBlocks && (ends & 0xffff) <= EncryptShared::kListed;
      const int end = __popc(__ballot_sync(0xffffffffu, fits));
      const int all = static_cast<int>(__shfl_sync(0xffffffffu, ends, end - 1) >> 16);
      const bool taken = lane_ >= begin && lane_ < end;
      begin = end;
      if (all == 0) continue;
      if (taken) put_counters(layout, static_cast<int>(ends >> 16) - blocks, blocks);
      const std::uint32_t mask = taken ? 0xffffffffu : 0;
      const std::uint32_t many[3] = {from2 & mask, layout.from4 & mask, layout.from7 & mask};
      const int listed = entropy::list_blocks(layout.nonzero & mask, many, lane_, s_.list);
      __syncwarp();
      for (int i = lane_; i < all; i += 32) {
        const int counter = s_.counters[i];
        const protect::AesBlock key = keystream(counter >> 5, static_cast<std::uint32_t>(counter & 31));
        reinterpret_cast<uint4*>(s_.keys)[i] =
            make_uint4(key.words[0], key.words[1], key.words[2], key.words[3]);
      }
      __syncwarp();
      encrypt_listed(listed);
      __syncwarp();
    }
  }

  __device__ void put_counters(const protect::KeyLayout& layout, int first, int blocks) const {
    s_.layouts[lane_] =
        make_uint4(layout.nonzero, layout.from4, layout.from7, static_cast<std::uint32_t>(first));
    for (int i = 0; i < blocks; ++i) s_.counters[first + i] = static_cast<std::uint16_t>(lane_ << 5 | i);
  }

  struct Listed {
    int m, slot;
    uint4* d_levels;
    entropy::BlockLevels levels;
  };

  __device__ Listed fetch(int i, int listed) const {
    const int entry = s_.list[min(i, listed - 1)], m = entry >> 5, slot = entry & 31;
    uint4* const d_levels = d_levels_ + (2 * (m * core::kBlocksPerMacroblock + slot));
    return {m, slot, d_levels, {d_levels[0], d_levels[1]}};
  }

  __device__ void encrypt_listed(int listed) const {
    const std::uint32_t ones = entropy::pair_of_ones();
    Listed next = fetch(lane_, listed);
#pragma unroll 1
    for (int i = lane_; i < listed; i += 32) {
      const Listed block = next;
      if (i + 32 < listed) next = fetch(i + 32, listed);
      encrypt(block, ones);
    }
  }

  __device__ void encrypt(const Listed& block, std::uint32_t ones) const {
    std::uint32_t(&s_before)[8][32] = s_.levels[0], (&s_after)[8][32] = s_.levels[1];
    const std::uint32_t words[8] = {block.levels.low.x,  block.levels.low.y,  block.levels.low.z,
                                    block.levels.low.w,  block.levels.high.x, block.levels.high.y,
                                    block.levels.high.z, block.levels.high.w};
#pragma unroll
    for (int j = 0; j < 8; ++j) s_before[j][lane_] = words[j], s_after[j][lane_] = 0;
    const auto kind =
        (intra16x16_ >> block.m & 1) != 0 ? core::MacroblockKind::intra16x16 : core::MacroblockKind::intra4x4;
    const int max_num_coeff = core::slot_max_num_coeff(kind, block.slot);
    const entropy::LevelSigns signs = entropy::level_signs(block.levels, ones);
    const std::uint32_t nonzero = signs.nonzero & ((1u << max_num_coeff) - 1);
    const core::CavlcSymbols symbols = core::symbols_of_masks({nonzero, signs.ones & nonzero});
    const uint4 at = s_.layouts[block.m];
    const protect::KeyLayout layout{at.x, at.y, at.z};
    const std::uint32_t* const s_key = s_.keys + 4 * at.w;
    const protect::BlockKey key = protect::block_key([s_key](int i) { return s_key[i]; },
                                                     layout.units_before(block.slot), symbols.total_coeff);
    const LevelColumn before(s_before, lane_), after(s_after, lane_);
    const protect::BlockChange change =
        protect::block_change(before, symbols, max_num_coeff, key, plan_.parts.signs, plan_.parts.codewords);
    if (!change.any(nonzero)) return;
    protect::change_levels(before, nonzero, change, [&](int place, int level) { after.put(place, level); });
    block.d_levels[0] =
        make_uint4(s_after[0][lane_], s_after[1][lane_], s_after[2][lane_], s_after[3][lane_]);
    block.d_levels[1] =
        make_uint4(s_after[4][lane_], s_after[5][lane_], s_after[6][lane_], s_after[7][lane_]);
  }

  const BatchView& batch_;
  const EncryptionPlan& plan_;
  const std::uint32_t picture_;
  const int group_first_;       // macroblock in its picture
  const std::size_t first_mb_;  // in the batch
  uint4* const d_levels_;       // of the group
  EncryptShared& s_;
  const AesTable& aes_;
  const int lane_;
  unsigned intra16x16_ = 0;
};

}  // namespace cu264::encoder::cuda
