// Items: the bins of a slice between binarisation and arithmetic coding, 16 bits each. One sink counts them
// and another writes them, so binarisation can run in parallel: count, scan, write.
//
//   bits 15..14  kind; 0 is also that of terminate
//   decision     bit 2 is the bin, bits 0, 1 and 7..13 are its context. With bit 3 a bypass bin follows it,
//                bit 4, which is the sign of a level
//   bypass       bits 0..7 are the bins, the last one lowest, and bits 8..11 their number, 0 to 8
//   terminate    a decision whose context is one past the last of I slices
//   pcm          the coder ends its codeword, aligns, writes the samples of an I_PCM macroblock and begins
//                anew. Two items of kinds 2 and 3: bits 0..13 of the macroblock's index in its picture, then
//                bits 14..27, with which the coder does all this
// A run of no bins is padding. The bits of the context are those of a byte in rows of 128, where a lane of
// the arithmetic coder keeps its state. The contexts that only P slices have come after those of terminating
// and bypass bins.
#pragma once

#include <cstdint>

#include "core/cabac_contexts.h"
#include "core/cabac_p_contexts.h"
#include "core/hd.h"

namespace cu264::core {

enum class CabacItemKind { decision, bypass, terminate, pcm };

inline constexpr std::uint32_t kItemContext = 0x3f83, kItemBin = 1 << 2, kItemSigned = 1 << 3,
                               kItemSign = 1 << 4;
inline constexpr std::uint16_t kPaddingItem = 1 << 14;
inline constexpr int kBypassBinsPerItem = 8;
inline constexpr int kPcmItems = 2;

// The number that items of P slices give to a context, and the context of such a number, which is none of
// the two that terminating and bypass bins have. Items of I slices have the contexts' own numbers.
inline constexpr int kItemOnlyContexts = 2, kPItemContexts = kCabacPContexts + kItemOnlyContexts;
CU264_HD constexpr int p_item_context(int context) {
  return context < kCabacContexts ? context : context + kItemOnlyContexts;
}
CU264_HD constexpr int context_of_p_item(int number) {
  return number < kCabacContexts ? number : number - kItemOnlyContexts;
}

CU264_HD std::uint16_t decision_item(int context, int bin) {
  const int low = context & 3;
  return static_cast<std::uint16_t>((context << 5) - 31 * low + (bin << 2));
}

// A decision followed by a sign.
CU264_HD std::uint16_t signed_item(int context, int bin, std::uint32_t sign) {
  return static_cast<std::uint16_t>(decision_item(context, bin) | kItemSigned | sign << 4);
}

CU264_HD std::uint16_t bypass_item(std::uint32_t value, int count) {
  return static_cast<std::uint16_t>(1u << 14 | static_cast<std::uint32_t>(count) << 8 | value);
}

CU264_HD std::uint16_t terminate_item(int bin) {
  return decision_item(kCabacContexts, bin);
}

// `part` is 0 or 1.
CU264_HD std::uint16_t pcm_item(std::uint32_t macroblock, int part) {
  const std::uint32_t kind = part == 0 ? 2 : 3;
  return static_cast<std::uint16_t>(kind << 14 | ((macroblock >> (14 * part)) & 0x3fff));
}

// The context of a decision; kCabacContexts for terminating bins, and more than any context for items of the
// other kinds.
CU264_HD int item_context(std::uint32_t item) {
  return static_cast<int>((item >> 5 & ~3u) | (item & 3));
}

CU264_HD CabacItemKind item_kind(std::uint16_t item) {
  if (item >> 14 == 0) {
    return item_context(item) == kCabacContexts ? CabacItemKind::terminate : CabacItemKind::decision;
  }
  return item >> 14 == 1 ? CabacItemKind::bypass : CabacItemKind::pcm;
}

CU264_HD int item_bin(std::uint16_t item) {
  return item >> 2 & 1;
}

CU264_HD std::uint32_t item_bypass_value(std::uint16_t item) {
  return item & 255u;
}

CU264_HD int item_bypass_count(std::uint16_t item) {
  return (item >> 8) & 15;
}

// Puts the bins of an item that is not of I_PCM.
template <class Sink>
CU264_HD void put_item(Sink& sink, std::uint16_t item) {
  switch (item_kind(item)) {
    case CabacItemKind::decision:
      sink.decision(item_context(item), item_bin(item));
      if ((item & kItemSigned) != 0) sink.bypass((item & kItemSign) != 0 ? 1 : 0, 1);
      break;
    case CabacItemKind::bypass:
      if (item_bypass_count(item) > 0) sink.bypass(item_bypass_value(item), item_bypass_count(item));
      break;
    case CabacItemKind::terminate:
      sink.terminate(item_bin(item));
      break;
    case CabacItemKind::pcm:
      break;
  }
}

// Counts the items and bins that a sequence of calls produces.
struct CabacItemCounter {
  std::uint32_t items = 0;
  std::uint32_t bins = 0;

  CU264_HD_MEMBER void decision(int, int) { ++items, ++bins; }
  CU264_HD_MEMBER void signed_decision(int, int, std::uint32_t) { ++items, bins += 2; }
  CU264_HD_MEMBER void bypass(std::uint32_t, int count) {
    items += static_cast<std::uint32_t>(count + kBypassBinsPerItem - 1) / kBypassBinsPerItem;
    bins += static_cast<std::uint32_t>(count);
  }
  CU264_HD_MEMBER void terminate(int) { ++items, ++bins; }
  CU264_HD_MEMBER void pcm(std::uint32_t) { items += kPcmItems; }
};

// Writes items to memory that holds as many as the counter counted.
struct CabacItemWriter {
  std::uint16_t* next;

  CU264_HD_MEMBER void decision(int context, int bin) { *next++ = decision_item(context, bin); }
  CU264_HD_MEMBER void signed_decision(int context, int bin, std::uint32_t sign) {
    *next++ = signed_item(context, bin, sign);
  }
  // A decision and, if `both`, a second one.
  CU264_HD_MEMBER void decision_pair(int context, int bin, bool both, int second_context, int second_bin) {
    const std::uint16_t second = decision_item(second_context, second_bin);
    next[0] = decision_item(context, bin);
    if (both) next[1] = second;
    next += both ? 2 : 1;
  }
  CU264_HD_MEMBER void bypass(std::uint32_t value, int count) {
    for (; count > kBypassBinsPerItem; count -= kBypassBinsPerItem) {
      *next++ = bypass_item((value >> (count - kBypassBinsPerItem)) & 255, kBypassBinsPerItem);
    }
    if (count > 0) *next++ = bypass_item(value & ((1u << count) - 1), count);
  }
  CU264_HD_MEMBER void terminate(int bin) { *next++ = terminate_item(bin); }
  CU264_HD_MEMBER void pcm(std::uint32_t macroblock) {
    *next++ = pcm_item(macroblock, 0);
    *next++ = pcm_item(macroblock, 1);
  }
};

}  // namespace cu264::core
