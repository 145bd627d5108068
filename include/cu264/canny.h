// Unsupervised edge detection (GUD-Canny): Canny's detector with the hysteresis thresholds of
// Medina-Carnicer's method, found for each sub-image by itself. The cpu and cuda backends give the same maps,
// bit by bit.
//
//   cu264::canny::Detector detector({}, 1920, 1080);
//   detector.detect({luma, pitch}, {edges, 1920});
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cu264/encoder.h"
#include "cu264/frame.h"
#include "cu264/status.h"

namespace cu264::vision {
struct DetectorAccess;  // neither is part of the API
struct DetectorBackends;
}  // namespace cu264::vision

namespace cu264::canny {

inline constexpr int kMaxSide = 16384;  // of a picture, in pixels

enum class Partition : std::uint8_t {
  columns,  // sub-images of 32 x height: the paper's horizontal partition
  rows,     // of width x 32: its vertical partition
  frame,    // one, the whole picture: the frame-level method
};

// Thresholds and levels are hundredths of the picture's largest gradient: 0 .. 100.
struct ThresholdPair {
  int low = 0;
  int high = 0;
};

struct Params {
  int sigma_tenths = 14;  // of the Gaussian: 1 .. 20 for sigma 0.1 .. 2.0
  // Candidate thresholds: 2 to 32 of them, rising, 1 .. 100. Every pair low < high of them is tried.
  std::vector<int> candidates = {1, 4, 7, 10, 13, 16, 19, 22, 25};
  Partition partition = Partition::columns;
  // Not in the paper: the thresholds found are scaled, for all sub-images alike, by the share of the
  // picture's pixels that are edge candidates of some strength. In crowded pictures only the strongest edges
  // remain. F and MSE against human marks are better than without (vision/README.md). Not with `fixed`.
  bool density_scaling = false;
  // Plain Canny: no search, these thresholds (0 <= low <= high, 1 <= high <= 100), linked over the whole
  // picture; candidates and partition are not looked at.
  std::optional<ThresholdPair> fixed;
  // Gradients are taken relative to the picture's largest, at least to this: 0 .. 360 grey levels (over two
  // pixels). Above 0 it keeps the noise of flat pictures from becoming edges. 0: off.
  int noise_floor = 0;
};

// The thresholds 0.01 .. 0.25 in steps of 0.01 and of 0.03: the paper's C0.01 (300 pairs) and C0.03 (36
// pairs).
std::vector<int> candidates_001();
std::vector<int> candidates_003();

enum class ThresholdSource : std::uint8_t {
  own,     // the sub-image's own first and last local maximum
  pooled,  // the picture's: the sub-image had fewer than two
  ends,    // the ends of the picture's instability zone: it had fewer than two either
  none,    // no candidate pair links any pixel of the picture: no edges, low = high = 255
  fixed,   // Params::fixed
};

// Of one sub-image, in hundredths. A pixel is an edge if its level is >= high, or > low and connected to such
// a one through pixels > low.
struct Thresholds {
  std::uint8_t low = 255;
  std::uint8_t high = 255;
  ThresholdSource source = ThresholdSource::none;
  std::uint8_t reserved = 0;
};

// A batch of 8-bit planes of one size, equally spaced. Row y of picture n begins at data + n * distance + y *
// pitch (bytes; a negative pitch reads bottom-up). Nothing is owned. A single picture needs no distance.
struct Pictures {
  const std::uint8_t* data = nullptr;
  std::ptrdiff_t pitch = 0;
  std::ptrdiff_t distance = 0;
  int count = 1;
};

// Where edge maps go, one byte a pixel: 255 for an edge, 0 for none. Spaced as Pictures.
struct EdgeMaps {
  std::uint8_t* data = nullptr;
  std::ptrdiff_t pitch = 0;
  std::ptrdiff_t distance = 0;
};

struct Machine {
  BackendChoice backend = BackendChoice::automatic;  // automatic: cuda where it works, else cpu
  int threads = 0;                                   // of the CPU backend; 0: one a core
  int device = 0;                                    // of the CUDA backend
  int batch = 1;                                     // most pictures a call of detect() brings
};

class DetectorBackend;

// For pictures of one size. All memory is taken when it is made. One thread at a time may call it; any number
// of detectors may exist.
class Detector {
 public:
  // Width and height 1 .. kMaxSide. Throws Error: invalid_argument, device_unavailable, out_of_memory.
  Detector(const Params& params, int width, int height, const Machine& machine = {});
  ~Detector();
  Detector(Detector&&) noexcept;
  Detector& operator=(Detector&&) noexcept;

  // Sub-images a picture.
  int sub_images() const { return sub_images_; }
  // "cpu" or "cuda", and why that one.
  const std::string& backend() const { return backend_name_; }
  const std::string& backend_reason() const { return backend_reason_; }

  // Finds the edges of pictures.count pictures. `thresholds`, if not null, receives sub_images() entries for
  // each picture. Host memory (`memory` host or pinned): everything is there when the call returns. Device
  // memory (cuda backend only; pictures, edges and thresholds alike): the work is queued on `stream`, a
  // cudaStream_t, and the call returns at once; calls on different streams must not overlap in time.
  // Throws Error: invalid_argument, device_failure.
  void detect(const Pictures& pictures, const EdgeMaps& edges, Thresholds* thresholds = nullptr,
              MemoryKind memory = MemoryKind::host, void* stream = nullptr);

 private:
  friend struct vision::DetectorAccess;
  Detector(const vision::DetectorBackends& backends, const Params& params, int width, int height,
           const Machine& machine);

  std::unique_ptr<DetectorBackend> backend_;
  std::string backend_name_;
  std::string backend_reason_;
  int width_ = 0;
  int batch_ = 1;
  int sub_images_ = 0;
};

// One picture in host memory, with a detector of its own: for a single use.
std::vector<std::uint8_t> detect(const Params& params, const std::uint8_t* picture, std::ptrdiff_t pitch,
                                 int width, int height, const Machine& machine = {});

}  // namespace cu264::canny
