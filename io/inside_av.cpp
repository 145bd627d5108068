#include "io/inside_av.h"

#include <atomic>

namespace cu264::io {
namespace {

std::atomic<int> inside{0};
std::atomic<unsigned> begun{0};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<unsigned>::is_always_lock_free,
              "a signal handler reads them");

}  // namespace

InsideAv::InsideAv() noexcept {
  ++begun;
  ++inside;
}
InsideAv::~InsideAv() {
  --inside;
}
bool InsideAv::any() noexcept {
  return inside != 0;
}
unsigned InsideAv::calls() noexcept {
  return begun;
}

}  // namespace cu264::io
