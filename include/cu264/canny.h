// Unsupervised edge detection (GUD-Canny): Canny's detector with hysteresis thresholds that Medina-Carnicer's
// method finds for each sub-image separately. The cpu and cuda backends give the same maps, bit by bit.
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

#include "cu264/backend_choice.h"
#include "cu264/frame.h"
#include "cu264/status.h"

namespace cu264::vision {
struct DetectorAccess;  // neither of these is part of the API
struct DetectorBackends;
}  // namespace cu264::vision

namespace cu264::canny {

inline constexpr int kMaxSide = 16384;  // the largest width and height of a picture, in pixels

enum class Partition : std::uint8_t {
  columns,  // sub-images of 32 x height: the paper's horizontal partition
  rows,     // sub-images of width x 32: its vertical partition
  frame,    // one sub-image, the whole picture: the frame-level method
};

// Thresholds and levels are hundredths of the picture's largest gradient: 0 .. 100.
struct ThresholdPair {
  int low = 0;
  int high = 0;

  bool operator==(const ThresholdPair&) const = default;
};

struct Params {
  int sigma_tenths = 14;  // the Gaussian's sigma: 1 .. 20 for 0.1 .. 2.0
  // Candidate thresholds: 2 to 32 rising values of 1 .. 100. Every pair low < high of them is tried.
  std::vector<int> candidates = {1, 4, 7, 10, 13, 16, 19, 22, 25};
  Partition partition = Partition::columns;
  // Not in the paper: the thresholds found are scaled, for all sub-images alike, by the share of the
  // picture's pixels that are edge candidates of some strength, so that in crowded pictures only the
  // strongest edges remain. vision/README.md says where that helps. It cannot be combined with `fixed`.
  bool density_scaling = false;
  // Plain Canny: these thresholds (0 <= low <= high, 1 <= high <= 100) instead of a search, linked over the
  // whole picture. Candidates and partition are ignored.
  std::optional<ThresholdPair> fixed;
  // Gradients are taken relative to the picture's largest gradient or to this one, whichever is larger: 0 ..
  // 360 grey levels over two pixels. A value above 0 keeps the noise of flat pictures from becoming edges. 0:
  // off.
  int noise_floor = 0;

  bool operator==(const Params&) const = default;
};

// The thresholds 0.01 .. 0.25 in steps of 0.01 and of 0.03: the paper's C0.01 (300 pairs) and C0.03 (36
// pairs).
std::vector<int> candidates_001();
std::vector<int> candidates_003();

enum class ThresholdSource : std::uint8_t {
  own,     // the first and the last local maximum of the sub-image's histogram
  pooled,  // those of the whole picture's, because the sub-image's has fewer than two
  ends,    // the ends of the picture's instability zone, because the picture's has fewer than two as well
  none,    // no candidate pair links any pixel of the picture: no edges, low = high = 255
  fixed,   // Params::fixed
};

// The thresholds of one sub-image, in hundredths. A pixel is an edge if its level is >= high, or if it is >
// low and connected to such a pixel through pixels > low.
struct Thresholds {
  std::uint8_t low = 255;
  std::uint8_t high = 255;
  ThresholdSource source = ThresholdSource::none;
  std::uint8_t reserved = 0;
};

// A batch of 8-bit planes of one size, equally spaced. Row y of picture n begins at data + n * distance + y *
// pitch, both in bytes; a negative pitch reads bottom-up. The memory is the caller's. A single picture needs
// no distance.
struct Pictures {
  const std::uint8_t* data = nullptr;
  std::ptrdiff_t pitch = 0;
  std::ptrdiff_t distance = 0;
  int count = 1;
};

// The memory that edge maps are written to, one byte a pixel: 255 for an edge, 0 for none. They are spaced
// like Pictures.
struct EdgeMaps {
  std::uint8_t* data = nullptr;
  std::ptrdiff_t pitch = 0;
  std::ptrdiff_t distance = 0;
};

// Says where a detector computes, and how many pictures at once.
struct ExecutionOptions {
  BackendChoice backend = BackendChoice::automatic;  // automatic: cuda where it works, else cpu
  int threads = 0;                                   // threads of the CPU backend; 0: one for each core
  int device = 0;                                    // the CUDA backend's device
  int batch = 1;                                     // the most pictures in one call of detect()
};

class DetectorBackend;

// Detects edges in pictures of one size. The constructor allocates all memory. Only one thread at a time may
// call a detector; any number of detectors may exist.
class Detector {
 public:
  // Width and height are 1 .. kMaxSide. Throws Error: invalid_argument, device_unavailable, out_of_memory.
  Detector(const Params& params, int width, int height, const ExecutionOptions& execution = {});
  ~Detector();
  Detector(Detector&&) noexcept;
  Detector& operator=(Detector&&) noexcept;

  // The number of sub-images of a picture.
  int sub_images() const { return sub_images_; }
  // "cpu" or "cuda", and why that one was chosen.
  const std::string& backend() const { return backend_name_; }
  const std::string& backend_reason() const { return backend_reason_; }

  // Finds the edges of pictures.count pictures. `thresholds`, if not null, receives sub_images() entries for
  // each picture. `memory` says where pictures, edges and thresholds are. With host or pinned memory, the
  // results are complete when the call returns. With device memory (cuda backend only) the work is queued on
  // `stream`, a cudaStream_t, and the call returns at once; calls on different streams must not overlap in
  // time. Throws Error: invalid_argument, device_failure.
  void detect(const Pictures& pictures, const EdgeMaps& edges, Thresholds* thresholds = nullptr,
              MemoryKind memory = MemoryKind::host, void* stream = nullptr);

 private:
  friend struct vision::DetectorAccess;
  Detector(const vision::DetectorBackends& backends, const Params& params, int width, int height,
           const ExecutionOptions& execution);

  std::unique_ptr<DetectorBackend> backend_;
  std::string backend_name_;
  std::string backend_reason_;
  int width_ = 0;
  int batch_ = 1;
  int sub_images_ = 0;
};

// Detects the edges of one picture in host memory with a detector that is used only once.
std::vector<std::uint8_t> detect(const Params& params, const std::uint8_t* picture, std::ptrdiff_t pitch,
                                 int width, int height, const ExecutionOptions& execution = {});

}  // namespace cu264::canny
