// Pictures of a clip in device memory, as the search leaves them: the input of the entropy coders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/device_batch.h"
#include "encoder/cpu_picture.h"
#include "support/device_array.cuh"

namespace cu264::bench {

class CodedBatch {
 public:
  // Repeats the clip until there are so many pictures.
  CodedBatch(const std::vector<encoder::CpuPicture>& clip, int pictures, int slices, int qp)
      : macroblocks_(repeat(clip, pictures, &encoder::CpuPicture::macroblocks)),
        levels_(repeat(clip, pictures, &encoder::CpuPicture::levels)),
        total_coeff_(repeat(clip, pictures, &encoder::CpuPicture::total_coeff)),
        samples_(4),
        params_(parameters(pictures, qp)),
        sources_(std::vector<core::SourcePicture>(
            static_cast<std::size_t>(pictures), {{samples_.data(), samples_.data(), samples_.data()}, {}})) {
    view_.pictures = pictures, view_.slices = slices;
    view_.width = view_.height = 1;  // I_PCM reads one sample, which takes as many bits as any other
    view_.mb_width = clip[0].mb_width, view_.mb_height = clip[0].mb_height;
    view_.sources = sources_.data(), view_.params = params_.data();
    view_.macroblocks = macroblocks_.data();
    view_.levels = levels_.data(), view_.total_coeff = total_coeff_.data();
  }

  const core::BatchView& view() const { return view_; }

 private:
  template <class T>
  static std::vector<T> repeat(const std::vector<encoder::CpuPicture>& clip, int pictures,
                               std::vector<T> encoder::CpuPicture::*array) {
    std::vector<T> all;
    for (int i = 0; i < pictures; ++i) {
      const std::vector<T>& one = clip[static_cast<std::size_t>(i) % clip.size()].*array;
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }
  static std::vector<core::PictureParams> parameters(int pictures, int qp) {
    core::PictureParams params;
    params.qp = static_cast<std::uint8_t>(qp);
    return std::vector<core::PictureParams>(static_cast<std::size_t>(pictures), params);
  }

  test::DeviceArray<core::MacroblockRecord> macroblocks_;
  test::DeviceArray<std::int16_t> levels_;
  test::DeviceArray<std::uint8_t> total_coeff_, samples_;
  test::DeviceArray<core::PictureParams> params_;
  test::DeviceArray<core::SourcePicture> sources_;
  core::BatchView view_;
};

}  // namespace cu264::bench
