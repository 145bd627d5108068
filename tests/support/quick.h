// CU264_TEST_QUICK=1 leaves out most cases of the long tests, for builds that run slowly.
#pragma once

#include <cstdlib>
#include <string_view>

namespace cu264::test {

inline bool quick() {
  const char* const value = std::getenv("CU264_TEST_QUICK");
  return value && *value && std::string_view(value) != "0";
}

// Counts the cases of a test and tells which are left out: all but every `step`-th.
class QuickCases {
 public:
  explicit QuickCases(int step) : step_(step) {}
  bool leave_out() { return quick() && number_++ % step_ != 0; }

 private:
  int step_, number_ = 0;
};

}  // namespace cu264::test
