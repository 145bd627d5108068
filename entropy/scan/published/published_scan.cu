#include "entropy/scan/published/published_scan.h"

#include "entropy/scan/gvle_scan.cuh"
#include "entropy/scan/published/printed_gvle_scan.cuh"
#include "entropy/scan/published/yamamoto_scan.cuh"
#include "entropy/scan/published/yan_scan.cuh"
#include "entropy/scan/scan_tiles.cuh"

namespace cu264::scan {
namespace {

template <int kRows, class Sum>
void launch_rows(Method method, const ScanArrays<Sum>& arrays, void* d_scratch, void* stream) {
  switch (method) {
    case Method::gvle:
      return launch_scan_tiles<PrintedGvleScan, kRows>(arrays, d_scratch, stream);
    case Method::gvle_tuned:
      return launch_scan_tiles<GvleScan, kRows>(arrays, d_scratch, stream);
    case Method::yavle:
      return launch_scan_tiles<YamamotoScan, kRows>(arrays, d_scratch, stream);
    case Method::cuvle:
      return launch_scan_tiles<YanScan, kRows>(arrays, d_scratch, stream);
  }
}

template <class Sum>
void launch(const ScanVariant& variant, const ScanArrays<Sum>& arrays, void* d_scratch, void* stream) {
  if (variant.tile == TileSize::large)
    launch_rows<kLargeTileRows>(variant.method, arrays, d_scratch, stream);
  else
    launch_rows<1>(variant.method, arrays, d_scratch, stream);
}

}  // namespace

std::size_t published_scan_scratch_bytes(const ScanVariant& variant, std::uint64_t count) {
  // GVLE_scan has the largest state.
  return variant.tile == TileSize::large ? scan_tiles_scratch_bytes<GvleScan, kLargeTileRows>(count)
                                         : scan_tiles_scratch_bytes<GvleScan, 1>(count);
}
void launch_published_scan(const ScanVariant& variant, const ScanArrays<std::uint32_t>& arrays,
                           void* d_scratch, void* stream) {
  launch(variant, arrays, d_scratch, stream);
}
void launch_published_scan(const ScanVariant& variant, const ScanArrays<std::uint64_t>& arrays,
                           void* d_scratch, void* stream) {
  launch(variant, arrays, d_scratch, stream);
}

}  // namespace cu264::scan
