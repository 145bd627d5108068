// races FAULT: a kernel with the fault that is named, which ThreadSanitizer must find, or with "none":
//
//   barrier   there is no __syncthreads between a write to shared memory and a read by another warp
//   warp      there is a shuffle instead of __syncwarp between lanes
//   sum       threads add to a sum without an atomic
//   release   a flag that says that data is there does so in no order with it
//   host      a thread of the host writes to the results without waiting for the one that launches
#include <cstdio>
#include <cstring>
#include <cuda/atomic>
#include <string>
#include <thread>
#include <vector>

#include "device_code.h"

namespace {

using namespace cu264;

constexpr int kThreads = 96, kBlocks = 3;

struct Results {
  std::vector<int> of_threads = std::vector<int>(kThreads);
  int sum = 0;
  unsigned flag = 0;
};

void kernel(Results& results, const std::string& fault) {
  __shared__ int s_values[kThreads];
  const int thread = static_cast<int>(emulator::here->thread.x);
  s_values[thread] = thread;
  if (fault != "barrier") __syncthreads();
  int value = s_values[(thread + 37) % kThreads];
  __syncthreads();
  s_values[thread] = value;
  if (fault == "warp") {
    __shfl_sync(0xffffffffu, value, 0);
  } else {
    __syncwarp();
  }
  value += s_values[thread ^ 1];
  if (fault == "sum") {
    results.sum += value;
  } else {
    atomicAdd(&results.sum, value);
  }
  results.of_threads[static_cast<std::size_t>(thread)] = value;

  // The last warp waits for what the first thread has written.
  const cuda::atomic_ref<unsigned, cuda::thread_scope_block> flag(results.flag);
  const unsigned turn = emulator::here->block.x + 1;
  if (thread == 0)
    flag.store(turn, fault == "release" ? cuda::memory_order_relaxed : cuda::memory_order_release);
  if (thread >= kThreads - 32) {
    while (flag.load(cuda::memory_order_acquire) != turn)
      ;
    results.of_threads[static_cast<std::size_t>(thread)] += results.of_threads[0];
  }
}

void launch(Results& results, const std::string& fault) {
  emulator::launch(dim3(kBlocks), dim3(kThreads), 0, [&] { kernel(results, fault); });
}

}  // namespace

int main(int, char** arguments) {
  const std::string fault = arguments[1];
  std::vector<Results> results(3);
  std::vector<std::thread> threads;
  for (Results& own : results) threads.emplace_back([&] { launch(own, fault); });
  if (fault == "host") results[0].of_threads[1] = 0;
  for (std::thread& thread : threads) thread.join();
  // Each thread has added two numbers, and all numbers have been added twice.
  for (const Results& own : results) {
    if (own.sum != kBlocks * kThreads * (kThreads - 1)) return std::printf("the sum is %d\n", own.sum), 1;
  }
  std::puts("done");
  return 0;
}
