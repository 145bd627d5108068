// Tools of the tests of edge detection: parameters, the host's results, and the comparison stage by stage.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cu264/canny.h"
#include "tests/parity/canny_pictures.h"
#include "tests/parity/device_test.h"

namespace cu264::parity {

vision::CannyParams with(const std::vector<int>& levels, vision::Partition partition, int sigma_tenths = 14);
vision::CannyParams fixed_params(int low, int high);

// Fails at the first pixel, count or threshold of any stage that `found` holds.
void expect_same(const vision::Stages& expected, const vision::Stages& found);
void expect_same_edges(const std::vector<std::uint8_t>& expected, const std::vector<std::uint8_t>& found,
                       int width);

vision::Stages on_host(const vision::CannyParams& params, const GrayPicture& picture);

// The size and the parameters, for messages of failures.
std::string text(const vision::CannyParams& params, int width, int height);

class CannyDevice : public DeviceTest {
 protected:
  // Compares all forms, with labels in shared memory and in global memory.
  void expect_parity(const vision::CannyParams& params, const GrayPicture& picture,
                     const Placement& placement = {});
  // Compares only the production form.
  void expect_production(const vision::CannyParams& params, const GrayPicture& picture,
                         const vision::Stages& expected, const Placement& placement = {});
};

// The fixture of tests that run once for each partition.
class CannyPartitions : public CannyDevice, public testing::WithParamInterface<vision::Partition> {};

std::string partition_name(const testing::TestParamInfo<vision::Partition>& info);

// Runs a suite for every partition. It stands beside the suite's tests, in their unnamed namespace.
#define CU264_EVERY_PARTITION(Suite)                                                                  \
  INSTANTIATE_TEST_SUITE_P(                                                                           \
      All, Suite,                                                                                     \
      testing::Values(vision::Partition::columns, vision::Partition::rows, vision::Partition::frame), \
      partition_name)

}  // namespace cu264::parity
