// Threads that launch one kernel with different sizes of shared memory do not undo what the others need.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "common/cuda/error_check.h"
#include "common/cuda/handles.h"
#include "common/cuda/kernel_shared_memory.h"
#include "cu264/status.h"
#include "support/device_array.cuh"
#include "tests/parity/device_test.h"

namespace cu264::parity {
namespace {

constexpr int kStaticWords = 100;

__global__ void sum_of_shared(std::uint32_t* d_sum, int words) {
  extern __shared__ std::uint32_t s_words[];
  __shared__ std::uint32_t s_more[kStaticWords];
  for (int i = static_cast<int>(threadIdx.x); i < words; i += 32) s_words[i] = 3;
  for (int i = static_cast<int>(threadIdx.x); i < kStaticWords; i += 32) s_more[i] = 5;
  __syncthreads();
  if (threadIdx.x != 0) return;
  std::uint32_t sum = 0;
  for (int i = 0; i < words; ++i) sum += s_words[i];
  for (int i = 0; i < kStaticWords; ++i) sum += s_more[i];
  *d_sum = sum;
}

__global__ void leave_as_it_is() {}

cudaFuncAttributes attributes_of(void (*kernel)(std::uint32_t*, int)) {
  cudaFuncAttributes attributes{};
  check_cuda(cudaFuncGetAttributes(&attributes, kernel), "asking for a kernel's attributes");
  return attributes;
}

int most_dynamic_bytes() {
  int most = 0;
  check_cuda(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0),
             "asking for a device");
  return most - static_cast<int>(attributes_of(sum_of_shared).sharedSizeBytes);
}

void expect_sum(int bytes, const Stream& stream, const test::DeviceArray<std::uint32_t>& sum) {
  const int words = bytes / 4;
  allow_shared_memory(sum_of_shared);
  sum_of_shared<<<1, 32, static_cast<std::size_t>(bytes), stream.get()>>>(sum.data(), words);
  check_launch("sum_of_shared");
  check_cuda(cudaStreamSynchronize(stream.get()), "sum_of_shared");
  EXPECT_EQ(sum.download()[0], static_cast<std::uint32_t>(3 * words + 5 * kStaticWords));
}

using KernelSharedMemory = DeviceTest;

TEST_F(KernelSharedMemory, IsWhatTheDeviceHas) {
  const Stream stream;
  const test::DeviceArray<std::uint32_t> sum(1);
  const int most = most_dynamic_bytes();
  for (const int bytes : {most, 64, 0, most / 2, most}) {
    expect_sum(bytes, stream, sum);
    EXPECT_EQ(attributes_of(sum_of_shared).maxDynamicSharedSizeBytes, most) << bytes;
  }
}

TEST_F(KernelSharedMemory, ThePreferenceStays) {
  allow_shared_memory(sum_of_shared);
  prefer_shared_memory(sum_of_shared, 44);
  EXPECT_EQ(attributes_of(sum_of_shared).preferredShmemCarveout, 44);
  EXPECT_EQ(attributes_of(sum_of_shared).maxDynamicSharedSizeBytes, most_dynamic_bytes());
  forget_shared_memory_settings();  // they are made again
  prefer_shared_memory(sum_of_shared, 50);
  EXPECT_EQ(attributes_of(sum_of_shared).preferredShmemCarveout, 50);
}

TEST_F(KernelSharedMemory, ManyThreads) {
  const int most = most_dynamic_bytes();
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 16; ++thread) {
    threads.emplace_back([&, thread] {
      try {
        const Stream stream;
        const test::DeviceArray<std::uint32_t> sum(1);
        for (int i = 0; i < 50; ++i) expect_sum(most / 16 * ((thread * 7 + i * 5) % 17) / 4 * 4, stream, sum);
      } catch (const Error&) {
        ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
}

// An error that another library has left in this thread is not one of the next launch.
TEST_F(KernelSharedMemory, ErrorsOfTheCallerStayOut) {
  void* memory = nullptr;
  EXPECT_NE(cudaMalloc(&memory, std::size_t{1} << 60), cudaSuccess);
  const DeviceGuard guard(0);
  leave_as_it_is<<<1, 1>>>();
  EXPECT_NO_THROW(check_launch("leave_as_it_is"));
}

}  // namespace
}  // namespace cu264::parity
