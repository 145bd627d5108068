// Coded pictures in device memory, as the search leaves them there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/device_batch.h"
#include "support/device_array.cuh"
#include "tests/parity/coded_pictures.h"

namespace cu264::parity {

using test::DeviceArray;

inline constexpr std::int16_t kStale = -12345;

// Levels as a kernel leaves them: only blocks that hold levels are written.
inline std::vector<std::int16_t> levels_written(const encoder::CpuPicture& picture) {
  std::vector<std::int16_t> levels;
  for (std::size_t mb = 0; mb < picture.macroblocks.size(); ++mb) {
    for (int slot = 0; slot < core::kBlocksPerMacroblock; ++slot) {
      const bool written = ((picture.macroblocks[mb].nonzero_blocks >> slot) & 1) != 0;
      for (int k = 0; k < core::kLevelsPerBlock; ++k) {
        const std::size_t at = (mb * core::kBlocksPerMacroblock + slot) * core::kLevelsPerBlock + k;
        levels.push_back(written ? picture.levels[at] : kStale);
      }
    }
  }
  return levels;
}

template <class Part>
auto all(const std::vector<TestPicture>& pictures, Part part) {
  decltype(part(pictures[0])) values;
  for (const TestPicture& picture : pictures) {
    const auto more = part(picture);
    values.insert(values.end(), more.begin(), more.end());
  }
  return values;
}

inline std::vector<core::SourcePicture> source_pictures(const Shape& shape,
                                                        const std::vector<TestPicture>& pictures,
                                                        const std::uint8_t* d_samples) {
  std::vector<core::SourcePicture> sources(pictures.size());
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const Frame frame = frame_of(shape, d_samples + i * pictures[i].samples.size());
    for (int c = 0; c < 3; ++c) sources[i].plane[c] = frame.plane[c], sources[i].pitch[c] = frame.pitch[c];
  }
  return sources;
}

// The motion of pictures of which some are P pictures; that of the others is whatever the memory held before.
inline std::vector<core::MotionRecord> motion_of(const std::vector<TestPicture>& pictures) {
  core::MotionRecord stale;
  for (int block = 0; block < 4; ++block)
    stale.vector[block] = stale.mvd[block] = core::motion_vector(kStale, kStale);
  std::vector<core::MotionRecord> motion;
  bool any = false;
  for (const TestPicture& picture : pictures) {
    const encoder::CpuPicture& coded = picture.coded;
    any |= coded.inter;
    if (coded.inter) {
      motion.insert(motion.end(), coded.motion.begin(), coded.motion.end());
    } else {
      motion.insert(motion.end(), coded.macroblocks.size(), stale);
    }
  }
  return any ? motion : std::vector<core::MotionRecord>();
}

inline std::vector<core::PictureParams> params_of(const std::vector<TestPicture>& pictures) {
  std::vector<core::PictureParams> params(pictures.size());
  for (std::size_t i = 0; i < pictures.size(); ++i) params[i].key = !pictures[i].coded.inter;
  return params;
}

// The coded pictures in device memory. Of their parameters only `key` is right.
struct DeviceBatch {
  DeviceBatch(const Shape& shape, const std::vector<TestPicture>& pictures)
      : macroblocks(all(pictures, [](const TestPicture& p) { return p.coded.macroblocks; })),
        levels(all(pictures, [](const TestPicture& p) { return levels_written(p.coded); })),
        total_coeff(all(pictures, [](const TestPicture& p) { return p.coded.total_coeff; })),
        samples(all(pictures, [](const TestPicture& p) { return p.samples; })),
        motion(motion_of(pictures)),
        params(params_of(pictures)),
        sources(source_pictures(shape, pictures, samples.data())) {
    view.pictures = static_cast<int>(pictures.size());
    view.width = shape.width, view.height = shape.height, view.format = shape.format;
    view.mb_width = pictures[0].coded.mb_width, view.mb_height = pictures[0].coded.mb_height;
    view.slices = shape.slices;
    view.sources = sources.data();
    view.macroblocks = macroblocks.data();
    view.levels = levels.data();
    view.total_coeff = total_coeff.data();
    view.params = params.data();
    if (motion.size() > 0) view.motion = motion.data();
  }

  DeviceArray<core::MacroblockRecord> macroblocks;
  DeviceArray<std::int16_t> levels;
  DeviceArray<std::uint8_t> total_coeff, samples;
  DeviceArray<core::MotionRecord> motion;
  DeviceArray<core::PictureParams> params;
  DeviceArray<core::SourcePicture> sources;
  core::BatchView view;
};

}  // namespace cu264::parity
