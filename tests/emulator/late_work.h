// The order of work on streams. The library's work is done at once, when it is put into a stream; so a wait
// that is missing would not show. A test therefore makes a stream of its own late: copies that are put into
// it are done no earlier than CUDA promises, which is when work begins on a stream that waits for them, or
// when the host does. Who reads what they write and has not waited reads what was there before.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <functional>
#include <memory>
#include <vector>

namespace cu264::emulator {

// Copies and memsets that `stream` is given from now on are late, until it is destroyed or made prompt again.
void make_late(cudaStream_t stream, bool late = true);

struct LateWork;
using LateWorks = std::vector<std::shared_ptr<LateWork>>;  // in the order in which they are done

// For the emulated runtime. `stream` is null for CUDA's default stream; it and the handles of default streams
// always exist, in each context.
cudaStream_t make_stream(bool blocking);
void destroy_stream(cudaStream_t stream);
unsigned long long stream_id(cudaStream_t stream);  // which no other stream ever has
CUcontext context_of(cudaStream_t stream);          // for default streams the current one
// Does what work on the stream waits for.
void begin_work(cudaStream_t stream);
// Does the work, now or late.
void copy_work(cudaStream_t stream, std::function<void()> work);
// What the stream has not done yet.
LateWorks unfinished(cudaStream_t stream);
void wait_for(cudaStream_t stream, const LateWorks& works);
bool are_done(const LateWorks& works);
void finish(const LateWorks& works);
void finish_all();

}  // namespace cu264::emulator
