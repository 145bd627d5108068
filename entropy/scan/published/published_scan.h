// Prefix sums on the GPU by the papers' inter-block scans, with tiles of two sizes. In the papers each
// thread loads 16 bytes, which makes small tiles.
#pragma once

#include <cstddef>
#include <cstdint>

#include "entropy/scan/device_scan.h"

namespace cu264::scan {

// The method by which the blocks of a scan learn the sums before their own (thesis 2.3, section 4.4).
enum class Method {
  gvle,        // GVLE_scan: segments of 32 blocks, summed by atomic additions
  gvle_tuned,  // the same, with an addition for its last store; device_scan uses it
  yavle,       // YAVLE_scan: look-back over 32 blocks at a time (Yamamoto et al.)
  cuvle,       // CUVLE_scan: from block to block (Yan et al.)
};

enum class TileSize { small, large };  // 1024 and 8192 items

struct ScanVariant {
  Method method;
  TileSize tile = TileSize::small;
};

std::size_t published_scan_scratch_bytes(const ScanVariant& variant, std::uint64_t count);
void launch_published_scan(const ScanVariant& variant, const ScanArrays<std::uint32_t>& arrays,
                           void* d_scratch, void* stream);
void launch_published_scan(const ScanVariant& variant, const ScanArrays<std::uint64_t>& arrays,
                           void* d_scratch, void* stream);

}  // namespace cu264::scan
