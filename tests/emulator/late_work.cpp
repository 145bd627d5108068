#include "tests/emulator/late_work.h"

#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "tests/emulator/driver.h"

namespace cu264::emulator {

struct LateWork {
  std::function<void()> work;
  bool done = false;
};

namespace {

struct StreamState {
  unsigned long long id = 0;
  CUcontext context = nullptr;
  bool blocking = true;  // its work and that of its context's default stream wait for each other
  bool late = false;
  LateWorks own;
  LateWorks awaited;  // of other streams, by cudaStreamWaitEvent
};

struct Streams {
  std::recursive_mutex mutex;
  unsigned long long last_id = 0;
  std::map<CUcontext, StreamState> by_default;
  std::map<std::pair<CUcontext, std::thread::id>, StreamState> of_threads;  // cudaStreamPerThread
  std::map<cudaStream_t, StreamState> named;
  std::vector<cudaStream_t> handles;  // of destroyed streams, which are used again as CUDA's are
  LateWorks all;
};

std::atomic<int> undone;

Streams& streams() {
  static Streams* const all = new Streams;
  return *all;
}

bool is_default(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy;
}

StreamState& state_of(cudaStream_t stream) {
  Streams& all = streams();
  const CUcontext current = current_context() != nullptr ? current_context() : primary_context();
  StreamState& state = is_default(stream)              ? all.by_default[current]
                       : stream == cudaStreamPerThread ? all.of_threads[{current, std::this_thread::get_id()}]
                                                       : all.named[stream];
  if (state.id == 0) state.id = ++all.last_id, state.context = current;
  return state;
}

void drop_done(LateWorks& works) {
  std::erase_if(works, [](const std::shared_ptr<LateWork>& work) { return work->done; });
}

// What the stream waits for of other streams, and then its own.
void append(LateWorks& works, StreamState& state) {
  drop_done(state.awaited), drop_done(state.own);
  works.insert(works.end(), state.awaited.begin(), state.awaited.end());
  works.insert(works.end(), state.own.begin(), state.own.end());
}

}  // namespace

void make_late(cudaStream_t stream, bool late) {
  const std::lock_guard lock(streams().mutex);
  state_of(stream).late = late;
}

cudaStream_t make_stream(bool blocking) {
  Streams& all = streams();
  const std::lock_guard lock(all.mutex);
  cudaStream_t stream = nullptr;
  if (all.handles.empty()) {
    stream = reinterpret_cast<cudaStream_t>(new char);
  } else {
    stream = all.handles.back();
    all.handles.pop_back();
  }
  state_of(stream).blocking = blocking;
  return stream;
}

void destroy_stream(cudaStream_t stream) {
  Streams& all = streams();
  const std::lock_guard lock(all.mutex);
  if (all.named.erase(stream) != 0) all.handles.push_back(stream);
}

unsigned long long stream_id(cudaStream_t stream) {
  const std::lock_guard lock(streams().mutex);
  return state_of(stream).id;
}

CUcontext context_of(cudaStream_t stream) {
  const std::lock_guard lock(streams().mutex);
  return state_of(stream).context;
}

LateWorks unfinished(cudaStream_t stream) {
  if (undone == 0) return {};
  Streams& all = streams();
  const std::lock_guard lock(all.mutex);
  LateWorks works;
  StreamState& state = state_of(stream);
  if (is_default(stream)) {
    for (auto& [thread, other] : all.of_threads) {
      if (other.context == state.context) append(works, other);
    }
    for (auto& [handle, other] : all.named) {
      if (other.blocking && other.context == state.context) append(works, other);
    }
  } else if (state.blocking) {
    append(works, all.by_default[state.context]);
  }
  append(works, state);
  return works;
}

void begin_work(cudaStream_t stream) {
  if (undone != 0) finish(unfinished(stream));
}

void copy_work(cudaStream_t stream, std::function<void()> work) {
  Streams& all = streams();
  {
    const std::lock_guard lock(all.mutex);
    StreamState& state = state_of(stream);
    if (state.late) {
      state.own.push_back(std::make_shared<LateWork>(LateWork{std::move(work)}));
      all.all.push_back(state.own.back());
      ++undone;
      return;
    }
  }
  begin_work(stream);
  work();
}

void wait_for(cudaStream_t stream, const LateWorks& works) {
  if (works.empty()) return;
  const std::lock_guard lock(streams().mutex);
  LateWorks& awaited = state_of(stream).awaited;
  awaited.insert(awaited.end(), works.begin(), works.end());
}

bool are_done(const LateWorks& works) {
  const std::lock_guard lock(streams().mutex);
  for (const std::shared_ptr<LateWork>& work : works) {
    if (!work->done) return false;
  }
  return true;
}

void finish(const LateWorks& works) {
  if (works.empty()) return;
  const std::lock_guard lock(streams().mutex);
  for (const std::shared_ptr<LateWork>& work : works) {
    if (std::exchange(work->done, true)) continue;
    work->work();
    --undone;
  }
}

void finish_all() {
  if (undone == 0) return;
  Streams& all = streams();
  const std::lock_guard lock(all.mutex);
  finish(all.all);
  all.all.clear();
}

}  // namespace cu264::emulator
