// Encrypts a file on the GPU with the keystream of protect.h, or decrypts it, which is the same operation:
//   gpu_keystream KEYFILE NONCE INPUT OUTPUT
// Bytes 16 i to 16 i + 15 are combined with block i % 32 of macroblock i / 32 of picture 0, so any part can
// be processed without the others. A nonce must be used for one file only.
#include <cuda_runtime.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "cu264/protect.h"

namespace {

void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

__global__ void apply(uint4* d_data, const uint4* d_keystream, std::size_t count) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const uint4 a = d_data[i], b = d_keystream[i];
  d_data[i] = make_uint4(a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: gpu_keystream KEYFILE NONCE INPUT OUTPUT\n");
    return 1;
  }
  try {
    const auto key = cu264::ProtectionKey::from_file(argv[1]);
    std::ifstream input(argv[3], std::ios::binary);
    if (!input) throw std::runtime_error("the input cannot be read");
    std::vector<char> data{std::istreambuf_iterator<char>(input), {}};
    cu264::KeystreamRange range;
    range.nonce = std::stoull(argv[2]);
    range.macroblocks = static_cast<std::uint32_t>(data.size() / 512 + 1);  // 32 blocks of 16 bytes each
    uint4 *d_data = nullptr, *d_keystream = nullptr;
    check(cudaMalloc(&d_data, range.bytes()));
    check(cudaMalloc(&d_keystream, range.bytes()));
    check(cudaMemcpy(d_data, data.data(), data.size(), cudaMemcpyHostToDevice));
    cu264::make_keystream_on_device(key, range, d_keystream, nullptr);
    const std::size_t count = (data.size() + 15) / 16;
    apply<<<static_cast<unsigned>(count / 256 + 1), 256>>>(d_data, d_keystream, count);
    check(cudaMemcpy(data.data(), d_data, data.size(), cudaMemcpyDeviceToHost));
    std::ofstream output(argv[4], std::ios::binary);
    if (!output.write(data.data(), static_cast<std::streamsize>(data.size())).flush())
      throw std::runtime_error("the output cannot be written");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_keystream: %s\n", error.what());
    return 2;
  }
}
