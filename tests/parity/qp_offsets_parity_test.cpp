// The QP offsets of adaptive quantisation on the device are those of
// encoder/adaptive_quantisation/qp_offsets.h on the host.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "encoder/adaptive_quantisation/device_qp_offsets.h"
#include "support/device_array.cuh"
#include "tests/parity/device_test.h"

namespace cu264::parity {
namespace {

using test::DeviceArray;

using namespace encoder;

class QpOffsetParity : public DeviceTest {};

struct QpOffsetCase {
  int width, height, pictures, offset, pitch;
  AqMode mode;
  int strength;
};

// A wave with noise, whose contrast changes over the picture and from picture to picture.
std::vector<std::uint8_t> moving_samples(const QpOffsetCase& c, std::mt19937& random) {
  std::vector<std::uint8_t> samples(static_cast<std::size_t>(c.pitch) * c.height * c.pictures + c.offset);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto x = static_cast<int>(i % static_cast<std::size_t>(c.pitch)), y = static_cast<int>(i / c.pitch);
    const int contrast = (x / 40 + y / 60) % 5 * 25;
    samples[i] =
        static_cast<std::uint8_t>(60 + ((x + y) / 3 % 2) * contrast + static_cast<int>(random() % 6));
  }
  return samples;
}

void expect_qp_offset_parity(const QpOffsetCase& c) {
  SCOPED_TRACE(std::to_string(c.width) + "x" + std::to_string(c.height) + " offset " +
               std::to_string(c.offset) + " pitch " + std::to_string(c.pitch) + " strength " +
               std::to_string(c.strength));
  std::mt19937 random(static_cast<unsigned>(c.width * 31 + c.height));
  const std::vector<std::uint8_t> samples = moving_samples(c, random);
  std::vector<std::uint8_t> edges(samples.size());
  for (std::uint8_t& edge : edges) edge = random() % 9 == 0 ? 255 : 0;
  const std::size_t plane = static_cast<std::size_t>(c.pitch) * c.height;
  const int macroblocks = encoder::cuda::macroblocks_of_size(c.width, c.height),
            mb_width = (c.width + 15) / 16;
  const std::size_t all = static_cast<std::size_t>(macroblocks) * c.pictures;

  const DeviceArray<std::uint8_t> d_samples(samples), d_edges(edges);
  const DeviceArray<MacroblockSums> sums(all);
  const DeviceArray<std::int32_t> means(static_cast<std::size_t>(c.pictures));
  const DeviceArray<std::int8_t> previous(static_cast<std::size_t>(macroblocks)), offsets(all);
  const AqParams params{c.mode, c.strength};
  encoder::cuda::launch_qp_offset_reset(macroblocks, previous.data(), nullptr);
  const bool uses_edges = c.mode == AqMode::edges;
  const auto distance = static_cast<std::ptrdiff_t>(plane);
  // Two batches, of which the second continues from the first.
  std::vector<std::int8_t> host_previous;
  for (int batch = 0; batch < 2; ++batch) {
    encoder::cuda::launch_macroblock_sums({d_samples.data() + c.offset, c.pitch, distance, nullptr},
                                          {uses_edges ? d_edges.data() : nullptr, c.pitch, distance}, c.width,
                                          c.height, c.pictures, sums.data(), nullptr);
    encoder::cuda::launch_qp_offsets(params, mb_width, macroblocks / mb_width, c.pictures,
                                     {sums.data(), means.data(), previous.data(), offsets.data()}, nullptr);
    const std::vector<MacroblockSums> found_sums = sums.download();
    const std::vector<std::int8_t> found = offsets.download();
    for (int picture = 0; picture < c.pictures; ++picture) {
      const std::uint8_t* const luma = samples.data() + c.offset + picture * plane;
      const std::uint8_t* const marks = uses_edges ? edges.data() + picture * plane : nullptr;
      edge_map_qp_offsets(params, luma, c.pitch, marks, c.pitch, c.width, c.height, host_previous);
      for (int mb = 0; mb < macroblocks; ++mb) {
        const std::size_t at = static_cast<std::size_t>(picture) * macroblocks + mb;
        const MacroblockSums expected =
            macroblock_sums(luma, c.pitch, marks, c.pitch, c.width, c.height, mb % mb_width, mb / mb_width);
        ASSERT_EQ(expected.edges, found_sums[at].edges) << "picture " << picture << " macroblock " << mb;
        ASSERT_EQ(expected.sum, found_sums[at].sum) << "picture " << picture << " macroblock " << mb;
        ASSERT_EQ(expected.squares, found_sums[at].squares) << "picture " << picture << " macroblock " << mb;
        ASSERT_EQ(int{host_previous[static_cast<std::size_t>(mb)]}, int{found[at]})
            << "batch " << batch << " picture " << picture << " macroblock " << mb;
      }
    }
  }
}

TEST_F(QpOffsetParity, SumsAndOffsets) {
  for (const AqMode mode : {AqMode::edges, AqMode::variance}) {
    expect_qp_offset_parity({64, 48, 3, 0, 64, mode, kStrengthOne});
    expect_qp_offset_parity({101, 75, 4, 3, 107, mode, kMaxStrength});
    expect_qp_offset_parity({352, 288, 2, 8, 352, mode, kStrengthOne / 2});
    expect_qp_offset_parity({1, 1, 2, 0, 1, mode, kStrengthOne});
    expect_qp_offset_parity({17, 300, 2, 1, 24, mode, kStrengthOne});
  }
}

// Offsets of each kind, remembered or not, with the raise of a picture's last rows, which is not remembered.
TEST_F(QpOffsetParity, RaisedRowsAndMemory) {
  constexpr int kPictures = 5, kMbWidth = 7, kMbHeight = 5, kMbs = kMbWidth * kMbHeight;
  const QpOffsetCase c{16 * kMbWidth, 16 * kMbHeight, kPictures, 0, 16 * kMbWidth, AqMode::variance, 0};
  std::mt19937 random(5);
  const std::size_t plane = static_cast<std::size_t>(c.pitch) * c.height;
  for (const AqMode mode : {AqMode::none, AqMode::edges, AqMode::variance}) {
    for (const bool remembers : {false, true}) {
      if (mode == AqMode::none && remembers) continue;
      const AqParams params{mode, kStrengthOne, remembers};
      const DeviceArray<MacroblockSums> sums(kMbs * kPictures);
      const DeviceArray<std::int32_t> means(kPictures);
      const DeviceArray<std::int8_t> previous(kMbs), offsets(kMbs * kPictures);
      encoder::cuda::launch_qp_offset_reset(kMbs, previous.data(), nullptr);
      std::vector<std::int8_t> host_previous;
      for (int batch = 0; batch < 2; ++batch) {
        const std::vector<std::uint8_t> samples = moving_samples(c, random);
        const DeviceArray<std::uint8_t> d_samples(samples);
        std::vector<core::PictureParams> pictures(kPictures);
        for (int i = 0; i < kPictures; ++i) {
          pictures[i].index = static_cast<std::uint64_t>(kPictures * batch + i);
          pictures[i].raised_rows = static_cast<std::uint16_t>(i == 1 ? kMbHeight : random() % kMbHeight);
        }
        const DeviceArray<core::PictureParams> d_pictures(pictures);
        encoder::cuda::launch_macroblock_sums(
            {d_samples.data(), c.pitch, static_cast<std::ptrdiff_t>(plane), nullptr}, {}, c.width, c.height,
            kPictures, sums.data(), nullptr);
        encoder::cuda::launch_qp_offsets(params, kMbWidth, kMbHeight, kPictures,
                                         {sums.data(), means.data(), previous.data(), offsets.data()},
                                         nullptr, d_pictures.data());
        const std::vector<std::int8_t> found = offsets.download();
        for (int i = 0; i < kPictures; ++i) {
          std::vector<std::int8_t> expected(kMbs);
          if (mode != AqMode::none) {
            edge_map_qp_offsets(params, samples.data() + i * plane, c.pitch, nullptr, 0, c.width, c.height,
                                host_previous);
            expected = host_previous;
          }
          raise_rows(pictures[i], kMbWidth, kMbHeight, expected);
          for (int mb = 0; mb < kMbs; ++mb) {
            ASSERT_EQ(int{expected[mb]}, int{found[i * kMbs + mb]})
                << "mode " << static_cast<int>(mode) << (remembers ? ", remembered" : "") << ", batch "
                << batch << ", picture " << i << ", macroblock " << mb;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace cu264::parity
