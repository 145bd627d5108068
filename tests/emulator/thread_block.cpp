#include "tests/emulator/thread_block.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

#include "tests/emulator/fiber.h"
#include "tests/emulator/late_work.h"

namespace cu264::emulator {
namespace {

constexpr std::size_t kSharedAlignment = 256;

// The fiber runs a thread of one block after another.
struct Thread {
  ThreadIndices indices;
  std::unique_ptr<Fiber> fiber;
  bool ended = false;
};

struct Barrier {
  int arrived = 0, with_predicate = 0, result = 0;
  unsigned generation = 0;
  char order[2];  // tokens for even and odd generations, since a thread may arrive again before all have left
};

// An exchange of values between lanes. A lane may be at the next exchange before the last one has read this
// one.
struct Exchange {
  unsigned mask = 0;  // 0 if the exchange is free
  unsigned arrived = 0, read = 0;
  LaneValues values;
  char order;  // a token
};

struct Warp {
  Exchange exchanges[4];
};

struct Block {
  std::deque<Thread> threads;  // as many as the largest block had
  std::vector<Warp> warps;
  Barrier all, named[16];
  std::size_t running = 0;  // index of the thread that runs
  std::size_t alive = 0;
  std::vector<char> shared;
  const std::function<void()>* body = nullptr;
  char begins, ends;  // tokens
};

// It is not destroyed, because a fiber that waits cannot be.
Block& block = *new Block;
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

// What the fiber of a thread does.
void run_threads(Thread& thread) {
  for (;;) {
    order_after(&block.begins);
    (*block.body)();
    order_before(&block.ends);
    thread.ended = true;
    --block.alive;
    thread.fiber->give_way();
  }
}

void start_threads(std::size_t count, dim3 size, uint3 block_index, dim3 grid) {
  while (block.threads.size() < count) block.threads.emplace_back();
  for (std::size_t i = 0; i < count; ++i) {
    Thread& thread = block.threads[i];
    const unsigned index = static_cast<unsigned>(i);
    thread.indices = {
        {index % size.x, index / size.x % size.y, index / size.x / size.y}, block_index, size, grid};
    thread.ended = false;
    if (!thread.fiber) thread.fiber = std::make_unique<Fiber>([&thread] { run_threads(thread); });
  }
  block.alive = count;
}

void run_block(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (unsigned round = 0; block.alive > 0; ++round) {
    if (shuffled() && round % 16 == 0) shuffle(order);
    for (const std::size_t i : order) {
      Thread& thread = block.threads[i];
      if (thread.ended) continue;
      block.running = i;
      here = &thread.indices;
      thread.fiber->resume();
    }
  }
}

int wait(Barrier& barrier, std::size_t expected, bool predicate) {
  const unsigned generation = barrier.generation;
  order_before(&barrier.order[generation % 2]);
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
  order_after(&barrier.order[generation % 2]);
  return barrier.result;
}

}  // namespace

const ThreadIndices* here = nullptr;

void give_way() {
  block.threads[block.running].fiber->give_way();
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

LaneValues exchange(unsigned mask, std::uint64_t value, bool with_memory) {
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
  if (with_memory) order_before(&meeting->order);
  meeting->values.of[lane()] = value;
  meeting->arrived |= own;
  while (meeting->arrived != mask) give_way();
  const LaneValues values = meeting->values;
  if (with_memory) order_after(&meeting->order);
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
  block.body = &body;
  const std::size_t blocks = std::size_t{grid.x} * grid.y * grid.z;
  for (std::size_t i = 0; i < blocks; ++i) {
    const uint3 index = {static_cast<unsigned>(i % grid.x), static_cast<unsigned>(i / grid.x % grid.y),
                         static_cast<unsigned>(i / grid.x / grid.y)};
    block.warps.assign((threads + 31) / 32, Warp{});
    block.all = {};
    for (Barrier& barrier : block.named) barrier = {};
    start_threads(threads, size, index, grid);
    order_before(&block.begins);
    run_block(threads);
    order_after(&block.ends);
  }
}

}  // namespace cu264::emulator
