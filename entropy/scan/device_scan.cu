#include "entropy/scan/device_scan.h"

#include "entropy/scan/inter_block_scan.cuh"
#include "entropy/scan/scan_tiles.cuh"

namespace cu264::scan {

std::size_t scan_scratch_bytes(std::uint64_t count) {
  return scan_tiles_scratch_bytes<InterBlockScan, kLargeTileRows>(count);
}
void launch_scan(const ScanArrays<std::uint32_t>& arrays, void* d_scratch, void* stream) {
  launch_scan_tiles<InterBlockScan, kLargeTileRows>(arrays, d_scratch, stream);
}
void launch_scan(const ScanArrays<std::uint64_t>& arrays, void* d_scratch, void* stream) {
  launch_scan_tiles<InterBlockScan, kLargeTileRows>(arrays, d_scratch, stream);
}

}  // namespace cu264::scan
