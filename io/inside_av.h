// Tells a signal handler whether the process is inside a call that reads an input. Such a call ends soon
// after the input is stopped, unless a file keeps a demuxer, a decoder or a filter busy.
#pragma once

namespace cu264::io {

class InsideAv {
 public:
  InsideAv() noexcept;
  ~InsideAv();
  InsideAv(const InsideAv&) = delete;
  InsideAv& operator=(const InsideAv&) = delete;

  // Both are safe in a signal handler. The second counts calls: if it has not changed, it is still the same.
  static bool any() noexcept;
  static unsigned calls() noexcept;
};

}  // namespace cu264::io
