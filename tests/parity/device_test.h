// The fixture of tests that need a GPU. Without one they are skipped. This header needs no header of CUDA.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace cu264::parity {

// Empty if a kernel of this build runs on a device of this machine; otherwise the reason why not.
std::string why_no_device();

// How often a test does the same on the device: on a GPU several times, because a difference between runs is
// a race. On the emulator every run is the same (unless CU264_EMULATOR_SEED is set), so once is enough there,
// or twice where a run finds in its memory what the run before has left.
int repetitions(int on_a_gpu, int on_the_emulator);

class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    static const std::string reason = why_no_device();
    if (!reason.empty()) GTEST_SKIP() << "no usable CUDA device: " << reason;
  }
};

}  // namespace cu264::parity
