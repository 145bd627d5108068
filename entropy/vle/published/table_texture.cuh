// A code table in texture memory, as PAVLE tries it (Balevic, section 4).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "common/cuda/error_check.h"
#include "cu264/vle_types.h"
#include "entropy/vle/published/shared_tables.cuh"

namespace cu264::vle {

// The words of a CodeTable, from word `first` of the texture on: codes, then lengths, four a word.
struct TableTexture {
  cudaTextureObject_t texture = 0;
  int first = 0;

  __device__ uint2 operator[](std::uint32_t symbol) const {
    const int code = first + static_cast<int>(symbol),
              lengths = first + kSymbols + static_cast<int>(symbol / 4);
    const std::uint32_t bits = tex1Dfetch<unsigned>(texture, lengths) >> (8 * (symbol % 4)) & 255;
    return make_uint2(tex1Dfetch<unsigned>(texture, code), bits == 0 ? kNoCode : bits);
  }
};

// The texture of a table in device memory. A thread keeps the one of its last table, since making one takes
// longer than coding; for another table or device it waits for the device and makes another.
inline TableTexture table_texture(const CodeTable* d_table) {
  struct Kept {
    ~Kept() { cudaDestroyTextureObject(made.texture); }
    const CodeTable* table = nullptr;
    int device = -1;
    TableTexture made;
  };
  static thread_local Kept kept;
  int device = 0;
  check_cuda(cudaGetDevice(&device), "asking for the device");
  if (kept.table == d_table && kept.device == device) return kept.made;
  check_cuda(cudaDeviceSynchronize(), "waiting for the last table's texture");
  if (kept.table != nullptr) cudaDestroyTextureObject(kept.made.texture);
  kept.table = nullptr;
  // Textures begin at multiples of 512 bytes.
  const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(d_table), before = address % 512;
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = reinterpret_cast<void*>(address - before);
  resource.res.linear.desc = {32, 0, 0, 0, cudaChannelFormatKindUnsigned};
  resource.res.linear.sizeInBytes = before + sizeof(CodeTable);
  cudaTextureDesc description{};
  description.readMode = cudaReadModeElementType;
  check_cuda(cudaCreateTextureObject(&kept.made.texture, &resource, &description, nullptr),
             "making a texture");
  kept.made.first = static_cast<int>(before / sizeof(std::uint32_t));
  kept.table = d_table, kept.device = device;
  return kept.made;
}

}  // namespace cu264::vle
