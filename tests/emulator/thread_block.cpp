#include "tests/emulator/thread_block.h"

#include <algorithm>
#include <cstdio>
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
  unsigned index = 0;  // in its block
  ThreadIndices indices;
  std::unique_ptr<Fiber> fiber;
  bool ended = false;
  // What the thread waits for: that this counter is no longer `seen`. Null if it does not wait.
  const unsigned* counter = nullptr;
  unsigned seen = 0;

  bool waits() const { return counter != nullptr && *counter == seen; }
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
  unsigned complete = 0;  // how often all lanes have arrived
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
  Thread* running = nullptr;
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
void shuffle(std::vector<Thread*>& order) {
  const std::size_t threads = order.size();
  std::vector<std::size_t> warps(block.warps.size());
  std::iota(warps.begin(), warps.end(), std::size_t{0});
  std::shuffle(warps.begin(), warps.end(), numbers());
  auto next = order.begin();
  for (const std::size_t warp : warps) {
    const auto first = next;
    for (std::size_t i = 32 * warp; i < std::min(threads, 32 * (warp + 1)); ++i) *next++ = &block.threads[i];
    if (numbers()() & 1) std::reverse(first, next);
  }
}

// Lets the other threads run until `counter` changes. A thread that waits has no turns: in a block of which
// one warp works, switching to all the others would take most of the time.
void wait_for_change(const unsigned& counter) {
  Thread& thread = *block.running;
  thread.counter = &counter;
  thread.seen = counter;
  thread.fiber->give_way();
  thread.counter = nullptr;
}

// Opens the barrier if enough threads have arrived.
void open_if_complete(Barrier& barrier, std::size_t expected) {
  if (barrier.arrived == 0 || static_cast<std::size_t>(barrier.arrived) < expected) return;
  barrier.result = barrier.with_predicate;
  barrier.arrived = barrier.with_predicate = 0;
  ++barrier.generation;
}

// What the fiber of a thread does.
void run_threads(Thread& thread) {
  for (;;) {
    order_after(&block.begins);
    (*block.body)();
    order_before(&block.ends);
    thread.ended = true;
    --block.alive;
    open_if_complete(block.all, block.alive);  // the others do not wait for this thread any longer
    thread.fiber->give_way();
  }
}

void start_threads(std::size_t count, dim3 size, uint3 block_index, dim3 grid) {
  while (block.threads.size() < count) block.threads.emplace_back();
  for (std::size_t i = 0; i < count; ++i) {
    Thread& thread = block.threads[i];
    const unsigned index = static_cast<unsigned>(i);
    thread.index = index;
    thread.indices = {
        {index % size.x, index / size.x % size.y, index / size.x / size.y}, block_index, size, grid};
    thread.ended = false;
    if (!thread.fiber) thread.fiber = std::make_unique<Fiber>([&thread] { run_threads(thread); });
  }
  block.alive = count;
}

void run_block(std::size_t count) {
  std::vector<Thread*> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = &block.threads[i];
  for (unsigned round = 0; block.alive > 0; ++round) {
    if (shuffled() && round % 16 == 0) shuffle(order);
    bool all_wait = true;
    for (Thread* const thread : order) {
      if (thread->ended || thread->waits()) continue;
      all_wait = false;
      block.running = thread;
      here = &thread->indices;
      thread->fiber->resume();
    }
    if (all_wait) {
      std::fputs("emulator: the threads of a block wait for each other\n", stderr);
      std::abort();
    }
  }
}

int wait(Barrier& barrier, std::size_t expected, bool predicate) {
  const unsigned generation = barrier.generation;
  order_before(&barrier.order[generation % 2]);
  ++barrier.arrived;
  barrier.with_predicate += predicate;
  open_if_complete(barrier, expected);
  if (barrier.generation == generation) wait_for_change(barrier.generation);
  order_after(&barrier.order[generation % 2]);
  return barrier.result;
}

}  // namespace

const ThreadIndices* here = nullptr;

void give_way() {
  block.running->fiber->give_way();
}

int wait_for_block(bool predicate) {
  return wait(block.all, block.alive, predicate);
}

void wait_at_barrier(int barrier, int threads) {
  wait(block.named[barrier], static_cast<std::size_t>(threads), false);
}

int lane() {
  return static_cast<int>(block.running->index % 32);
}

LaneValues exchange(unsigned mask, std::uint64_t value, bool with_memory) {
  const unsigned own = 1u << lane();
  Warp& warp = block.warps[block.running->index / 32];
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
  if (meeting->arrived == mask) {
    ++meeting->complete;
  } else {
    wait_for_change(meeting->complete);
  }
  if (with_memory) order_after(&meeting->order);
  meeting->read |= own;
  if (meeting->read == mask) meeting->mask = 0;
  return meeting->values;
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
