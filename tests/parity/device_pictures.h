// A batch of pictures in device memory, as the session would lay it out, with everything that `reconstruct`
// writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cu264/encoder.h"
#include "encoder/cpu_picture.h"

namespace cu264::parity {

// The source pictures of a batch: all of one format and size. `planes` are packed one behind the other.
struct SourceBatch {
  PixelFormat format = PixelFormat::i420;
  int width = 0;
  int height = 0;
  int padding = 0;                                  // bytes that end each row, of a value found nowhere else
  std::vector<std::vector<std::uint8_t>> pictures;  // i420, without padding, whatever `format` says
};

class DevicePictures {
 public:
  // Uploads the sources in their format and poisons everything else. `copies` repeats the batch.
  DevicePictures(const SourceBatch& sources, int slices, bool reconstruction, int copies = 1);
  ~DevicePictures();
  DevicePictures(DevicePictures&&) noexcept;

  int pictures() const;
  // Runs the kernel once and waits; returns milliseconds on the device. Throws cu264::Error or
  // std::runtime_error.
  float reconstruct(int qp, Preset preset);
  // What the kernel left of one picture. Levels of slots without levels are stale: they are given as zeros.
  encoder::CpuPicture download(int picture) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cu264::parity
