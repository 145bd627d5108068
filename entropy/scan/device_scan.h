// Prefix sums on the GPU in any combination of inter-block scan and tile.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cu264/scan.h"

namespace cu264::scan {

enum class TileSize { small, large };  // 1024 and 8192 items

struct ScanForm {
  Method method = Method::gvle;
  TileSize tile = TileSize::large;
};

// That of a public method: the published ones have one load of 16 bytes a thread.
inline ScanForm form_of(Method method) {
  return method == Method::automatic ? ScanForm{} : ScanForm{method, TileSize::small};
}

template <class Sum>
struct ScanArrays {
  const std::uint32_t* d_input;
  Sum* d_output;
  std::uint64_t count;
  Kind kind;
};

std::size_t scan_scratch_bytes(const ScanForm& form, std::uint64_t count);
void launch_scan(const ScanForm& form, const ScanArrays<std::uint32_t>& arrays, void* d_scratch,
                 void* stream);
void launch_scan(const ScanForm& form, const ScanArrays<std::uint64_t>& arrays, void* d_scratch,
                 void* stream);

}  // namespace cu264::scan
