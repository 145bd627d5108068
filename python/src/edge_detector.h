// Edges of a caller's pictures, written to an array of the caller's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "cu264/canny.h"
#include "frame_array.h"
#include "of_this_process.h"

namespace cu264::python {

class EdgeDetector {
 public:
  EdgeDetector(const canny::Params& params, int width, int height, const canny::ExecutionOptions& execution)
      : width_(width), height_(height), execution_(execution), detector_([&] {
          const ReleasedGil released;
          return std::make_unique<canny::Detector>(params, width, height, execution);
        }()) {}

  // Holds for each picture, and each of its sub-images, the lower and the upper threshold.
  using Thresholds = std::vector<std::vector<std::tuple<int, int>>>;

  // `out` is a contiguous array of as many bytes as there are pixels, on the same device. The edges are
  // complete when this returns.
  Thresholds detect(const FrameArray& pictures, nb::handle out);

  const std::string& backend() const { return detector_->backend(); }

 private:
  int width_, height_;
  canny::ExecutionOptions execution_;
  OfThisProcess<canny::Detector> detector_;
};

}  // namespace cu264::python
