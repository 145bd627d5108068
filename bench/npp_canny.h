// NPP's Canny, for comparison: one picture and its edge map in device memory. It does less work than our
// detector: its thresholds are given, not found, and its hysteresis looks at two neighbours once instead of
// following edges.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

namespace cu264::bench {

class NppCanny {
 public:
  NppCanny(int width, int height, cudaStream_t stream);
  ~NppCanny();

  // Uses Gaussian 5x5, Sobel 3x3 and the L2 norm, on dense planes. Throws std::runtime_error.
  void launch(const std::uint8_t* d_picture, std::uint8_t* d_edges) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cu264::bench
