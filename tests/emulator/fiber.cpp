#include "tests/emulator/fiber.h"

#include <boost/context/fixedsize_stack.hpp>
#include <cstddef>
#include <memory>
#include <utility>

#ifdef CU264_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace cu264::emulator {
namespace {

constexpr std::size_t kStackBytes = 256 << 10;

}  // namespace

// What ThreadSanitizer is told, in a build that has it.
#ifdef CU264_THREAD_SANITIZER
namespace {

void* make_sanitized() {
  return __tsan_create_fiber(0);
}
void* current_sanitized() {
  return __tsan_get_current_fiber();
}
void switch_sanitized(void* fiber) {
  __tsan_switch_to_fiber(fiber, __tsan_switch_to_fiber_no_sync);
}

}  // namespace

void order_before(void* token) {
  __tsan_release(token);
}
void order_after(void* token) {
  __tsan_acquire(token);
}
#else
namespace {

void* make_sanitized() {
  return nullptr;
}
void* current_sanitized() {
  return nullptr;
}
void switch_sanitized(void*) {}

}  // namespace

void order_before(void*) {}
void order_after(void*) {}
#endif

Fiber::Fiber(std::function<void()> body)
    : fiber_(std::allocator_arg, boost::context::fixedsize_stack(kStackBytes),
             [this, run = std::move(body)](boost::context::fiber&& caller) {
               caller_ = std::move(caller);
               run();
               return std::move(caller_);
             }),
      sanitized_(make_sanitized()) {}

void Fiber::resume() {
  sanitized_caller_ = current_sanitized();
  switch_sanitized(sanitized_);
  fiber_ = std::move(fiber_).resume();
}

void Fiber::give_way() {
  switch_sanitized(sanitized_caller_);
  caller_ = std::move(caller_).resume();
}

}  // namespace cu264::emulator
