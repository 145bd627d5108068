// The container on the GPU has the bytes of the CPU's, expands to the same data, and is refused if it is
// damaged.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cu264/status.h"
#include "cu264/vle.h"
#include "entropy/vle/container.h"
#include "tests/parity/device_test.h"
#include "tests/parity/vle_device.h"
#include "tests/unit/vle_inputs.h"

namespace cu264::parity {
namespace {

using test::ByteVector;
using test::NamedInput;

vle::StreamOptions on(BackendChoice backend) {
  vle::StreamOptions options;
  options.backend = backend;
  return options;
}

class VleStreamParity : public DeviceTest {
 protected:
  static void expect_alike(const NamedInput& input) {
    SCOPED_TRACE(input.name + ", " + std::to_string(input.bytes.size()) + " bytes");
    const ByteVector expected = vle::compress(input.bytes, on(BackendChoice::cpu));
    ASSERT_TRUE(vle::compress(input.bytes, on(BackendChoice::cuda)) == expected);
    ASSERT_TRUE(vle::expand(expected, on(BackendChoice::cuda)) == input.bytes);
  }
};

TEST_F(VleStreamParity, Sizes) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{1023}, std::size_t{1024},
        std::size_t{1025}, std::size_t{300001}, vle::kSegmentSize, 3 * vle::kSegmentSize + 1}) {
    for (const NamedInput& input : test::inputs_of_size(size)) ASSERT_NO_FATAL_FAILURE(expect_alike(input));
  }
}

TEST_F(VleStreamParity, Corpora) {
  const std::vector<NamedInput> files = test::corpora();
  if (files.empty()) GTEST_SKIP() << test::kNoCorpora;
  for (const NamedInput& file : files) ASSERT_NO_FATAL_FAILURE(expect_alike(file));
}

TEST_F(VleStreamParity, DamageIsRefused) {
  const ByteVector good = vle::compress(test::steep_bytes(20000, 1), on(BackendChoice::cpu));
  for (std::size_t at = 0; at < good.size(); at += 37) {
    ByteVector bad = good;
    bad[at] ^= 0x10;
    try {
      vle::expand(bad, on(BackendChoice::cuda));
      ADD_FAILURE() << "byte " << at;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input) << error.what();
    }
  }
}

TEST_F(VleStreamParity, ErrorsComeThroughFromTheMiddle) {
  struct Mine {};
  int reads = 0;
  const vle::Source source = [&](std::span<std::uint8_t> memory) {
    if (++reads == 12) throw Mine();
    std::fill(memory.begin(), memory.end(), 3);
    return memory.size();
  };
  EXPECT_THROW(vle::compress(
                   source, [](std::span<const std::uint8_t>) {}, on(BackendChoice::cuda)),
               Mine);
  vle::StreamOptions absent = on(BackendChoice::cuda);
  absent.device = 4711;
  try {
    vle::compress(ByteVector(10), absent);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::device_unavailable) << error.what();
  }
}

}  // namespace
}  // namespace cu264::parity
