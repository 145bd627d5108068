#include "tests/emulator/thread_block.h"

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

#include "tests/emulator/late_work.h"

namespace cu264::emulator {
namespace {

namespace context = boost::context;

constexpr std::size_t kStackBytes = 256 << 10;
constexpr std::size_t kSharedAlignment = 256;

struct Thread {
  ThreadIndices indices;
  context::fiber fiber;      // the thread, while it waits
  context::fiber scheduler;  // the scheduler, while the thread runs
  bool ended = false;
};

struct Barrier {
  int arrived = 0, with_predicate = 0, result = 0;
  unsigned generation = 0;
};

// An exchange of values between lanes. A lane may be at the next exchange before the last one has read this
// one.
struct Exchange {
  unsigned mask = 0;  // 0 if the exchange is free
  unsigned arrived = 0, read = 0;
  LaneValues values;
};

struct Warp {
  Exchange exchanges[4];
};

struct Block {
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  Barrier all, named[16];
  std::size_t running = 0;  // index of the thread that runs
  std::size_t alive = 0;
  std::vector<char> shared;
};

Block block;
std::mutex one_launch;

bool shuffled() {
  static const bool given = std::getenv("CU264_EMULATOR_SEED") != nullptr;
  return given;
}

std::minstd_rand& numbers() {
  static std::minstd_rand engine(shuffled() ? std::strtoul(std::getenv("CU264_EMULATOR_SEED"), nullptr, 10)
                                            : 1);
  return engine;
}

// Puts the warps in random order, with the lanes of each in ascending or descending order.
void shuffle(std::vector<std::size_t>& order) {
  const std::size_t threads = order.size();
  std::vector<std::size_t> warps(block.warps.size());
  std::iota(warps.begin(), warps.end(), std::size_t{0});
  std::shuffle(warps.begin(), warps.end(), numbers());
  auto next = order.begin();
  for (const std::size_t warp : warps) {
    const auto first = next;
    for (std::size_t i = 32 * warp; i < std::min(threads, 32 * (warp + 1)); ++i) *next++ = i;
    if (numbers()() & 1) std::reverse(first, next);
  }
}

void start_threads(dim3 size, uint3 block_index, dim3 grid, const std::function<void()>& body) {
  static context::pooled_fixedsize_stack stacks(kStackBytes);
  for (std::size_t i = 0; i < block.threads.size(); ++i) {
    Thread& thread = block.threads[i];
    const unsigned index = static_cast<unsigned>(i);
    thread.indices = {
        {index % size.x, index / size.x % size.y, index / size.x / size.y}, block_index, size, grid};
    thread.ended = false;
    thread.fiber = context::fiber(std::allocator_arg, stacks, [&thread, &body](context::fiber&& scheduler) {
      thread.scheduler = std::move(scheduler);
      body();
      thread.ended = true;
      --block.alive;
      return std::move(thread.scheduler);
    });
  }
}

void run_block() {
  std::vector<std::size_t> order(block.threads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (unsigned round = 0; block.alive > 0; ++round) {
    if (shuffled() && round % 16 == 0) shuffle(order);
    for (const std::size_t i : order) {
      Thread& thread = block.threads[i];
      if (thread.ended) continue;
      block.running = i;
      here = &thread.indices;
      thread.fiber = std::move(thread.fiber).resume();
    }
  }
}

int wait(Barrier& barrier, std::size_t expected, bool predicate) {
  const unsigned generation = barrier.generation;
  ++barrier.arrived;
  barrier.with_predicate += predicate;
  while (barrier.generation == generation) {
    // Threads that have ended are not waited for.
    if (static_cast<std::size_t>(barrier.arrived) >= (expected != 0 ? expected : block.alive)) {
      barrier.result = barrier.with_predicate;
      barrier.arrived = barrier.with_predicate = 0;
      ++barrier.generation;
    } else {
      give_way();
    }
  }
  return barrier.result;
}

}  // namespace

const ThreadIndices* here = nullptr;

void give_way() {
  Thread& thread = block.threads[block.running];
  thread.scheduler = std::move(thread.scheduler).resume();
}

int wait_for_block(bool predicate) {
  return wait(block.all, 0, predicate);
}

void wait_at_barrier(int barrier, int threads) {
  wait(block.named[barrier], static_cast<std::size_t>(threads), false);
}

int lane() {
  return static_cast<int>(block.running % 32);
}

LaneValues exchange(unsigned mask, std::uint64_t value) {
  const unsigned own = 1u << lane();
  Warp& warp = block.warps[block.running / 32];
  Exchange* meeting = nullptr;
  while (meeting == nullptr) {
    for (Exchange& e : warp.exchanges) {
      if (e.mask == mask && (e.arrived & own) == 0 && e.read == 0) meeting = &e;
    }
    for (Exchange& e : warp.exchanges) {
      if (meeting != nullptr || e.mask != 0) continue;
      e.mask = mask;
      e.arrived = e.read = 0;
      meeting = &e;
    }
    if (meeting == nullptr) give_way();
  }
  meeting->values.of[lane()] = value;
  meeting->arrived |= own;
  while (meeting->arrived != mask) give_way();
  const LaneValues values = meeting->values;
  meeting->read |= own;
  if (meeting->read == mask) meeting->mask = 0;
  return values;
}

void* dynamic_shared_memory() {
  const auto address = reinterpret_cast<std::uintptr_t>(block.shared.data());
  return reinterpret_cast<void*>((address + kSharedAlignment - 1) & ~(kSharedAlignment - 1));
}

void launch(dim3 grid, dim3 size, std::size_t shared_bytes, cudaStream_t stream,
            const std::function<void()>& body) {
  begin_work(stream);
  const std::lock_guard lock(one_launch);
  const std::size_t threads = std::size_t{size.x} * size.y * size.z;
  if (threads == 0 || threads > 1024) throw std::invalid_argument("emulator: a block of 1 to 1024 threads");
  block.shared.resize(shared_bytes + kSharedAlignment);
  block.threads.resize(threads);
  const std::size_t blocks = std::size_t{grid.x} * grid.y * grid.z;
  for (std::size_t i = 0; i < blocks; ++i) {
    const uint3 index = {static_cast<unsigned>(i % grid.x), static_cast<unsigned>(i / grid.x % grid.y),
                         static_cast<unsigned>(i / grid.x / grid.y)};
    block.warps.assign((threads + 31) / 32, Warp{});
    block.all = {};
    for (Barrier& barrier : block.named) barrier = {};
    block.alive = threads;
    start_threads(size, index, grid, body);
    run_block();
  }
}

}  // namespace cu264::emulator
