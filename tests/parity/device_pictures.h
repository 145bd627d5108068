// A batch of pictures in device memory, laid out as by the session, with everything that `reconstruct`
// writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cu264/encoder.h"
#include "encoder/cpu_picture.h"

namespace cu264::parity {

// The source pictures of a batch, all of one format and size. The planes lie one after another.
struct SourceBatch {
  PixelFormat format = PixelFormat::i420;
  int width = 0;
  int height = 0;
  int padding = 0;  // bytes at the end of each row, of a value found nowhere else
  std::vector<std::vector<std::uint8_t>> pictures;  // I420 without padding, whatever `format` is
};

class DevicePictures {
 public:
  // Uploads the sources in their format and poisons everything else. The batch holds the pictures `copies`
  // times.
  DevicePictures(const SourceBatch& sources, int slices, bool reconstruction, int copies = 1);
  ~DevicePictures();
  DevicePictures(DevicePictures&&) noexcept;

  int pictures() const;
  // Runs the kernel once and waits; returns milliseconds on the device. Throws cu264::Error or
  // std::runtime_error.
  float reconstruct(int qp, Preset preset, bool transform_8x8_mode = false, bool cabac = false,
                    const ScalingLists& lists = {});
  // Returns what the kernel wrote for one picture. Slots without levels hold stale data, for which zeros are
  // returned.
  encoder::CpuPicture download(int picture) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cu264::parity
