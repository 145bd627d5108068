#include "tests/conformance/limit_checks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/conformance/stream_check.h"
#include "tests/support/quick.h"

namespace cu264::test {

void expect_pcm_beside_coded_macroblocks(const ConfigOf& config_of) {
  bool mixed = false;
  for (int qp = 0; qp <= 16; qp += quick() ? 4 : 1) {
    for (const int slices : {1, 5}) {
      SCOPED_TRACE("QP " + std::to_string(qp) + ", slices " + std::to_string(slices));
      const std::vector<Picture> pictures = {make_picture(Content::graded_noise, 80, 80, 1),
                                             make_picture(Content::graded_noise, 80, 80, 2)};
      const Config config = config_of(qp, slices);
      for (const WalkedPicture& picture : check_stream(config, encode(config, pictures), pictures).pictures)
        mixed = mixed || (picture.pcm_mbs > 0 && picture.pcm_mbs < 25);
    }
  }
  EXPECT_TRUE(mixed) << "no picture had both";
}

void expect_macroblocks_within_limit(const ConfigOf& config_of, const std::function<void(Picture&)>& change,
                                     std::size_t near) {
  std::size_t largest_coded = 0;
  for (const int amplitude : {8, 12, 16, 24, 32, 48, 64, 96, 128, 192}) {
    SCOPED_TRACE("amplitude " + std::to_string(amplitude));
    Picture picture = make_picture(Content::noise, 64, 64, static_cast<std::uint32_t>(amplitude));
    for (std::uint8_t& sample : picture.samples) {
      sample = static_cast<std::uint8_t>(128 + (sample - 128) * amplitude / 256);
    }
    if (change) change(picture);
    for (const int qp : {0, 2, 5}) {
      const Config config = config_of(qp, 1);
      const EncodedStream stream = encode(config, {picture});
      check_stream(config, stream, {picture});
      walk_stream(stream.bytes(), [&](const WalkedMacroblock& mb) {
        if (mb.kind == core::MacroblockKind::pcm) return;
        largest_coded = std::max(largest_coded, mb.header_bits + mb.residual_bits);
      });
    }
  }
  EXPECT_GT(largest_coded, near) << "the contents do not come near the limit";
  EXPECT_LE(largest_coded, 3200u);
}

}  // namespace cu264::test
