// Launches the stages of a batch on the device: the tables of its pictures, the QP offsets of adaptive
// quantisation, the marks of a watermark, the search, entropy coding and packing. All are put on one stream,
// which keeps the batches in order. Only the beginning of a clip may wait for the device (clip_keys.h).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "common/cuda/handles.h"
#include "encoder/cuda/clip_keys.h"
#include "encoder/cuda/device_layout.h"
#include "encoder/cuda/inter/chain_planner.h"
#include "encoder/cuda/mark.h"
#include "encoder/cuda/qp_offset_relay.h"

namespace cu264::encoder::cuda {

struct BatchPictures {
  PixelFormat format = PixelFormat::i420;  // on the device
  int count = 0;
  // Where there are P pictures, by place in the batch: what lies there, and whether it takes the place of the
  // picture before in its stream (Job::replaces).
  std::vector<PlannedPicture> plan;
  std::vector<bool> replaces;
  Marks written;  // of their frames
};

class BatchStages {
 public:
  // Parameters and memory are the backend's, which must outlive this and call set_up() or begin_clip() when
  // it has changed them. `relay` is null for a single device and without adaptive quantisation.
  BatchStages(const StreamParams& params, const DeviceMemory& d, const PinnedMemory& pinned,
              std::shared_ptr<QpOffsetRelay> relay)
      : params_(params), d_(d), pinned_(pinned), relay_(std::move(relay)) {}

  // Fills the tables of memory that was laid out anew, and begins a clip.
  void set_up();

  // Adds chains to those of the memory that was laid out.
  void add_chains(const std::vector<ChainView>& chains) {
    chains_.insert(chains_.end(), chains.begin(), chains.end());
  }

  // Takes the keys of a clip whose memory is laid out as it was.
  void begin_clip() { keys_.set(params_, d_, stream_); }

  // Launches the batch whose parameters and sources lie in the `index`-th piece of page-locked memory.
  // `pictures_on_device` counts those of other batches too. Returns the stream that the coded pictures come
  // from.
  const Stream& launch(int index, const BatchPictures& pictures, int pictures_on_device);

  // Waits for the device. Errors do not matter (~CudaBackend).
  void wait() const;

 private:
  BatchView view_of(const BatchPictures& pictures, const DeviceMemory::Batch& d) const;
  // pinned_edges receives the edge maps; null if nobody wants them.
  const std::int8_t* launch_qp_offsets_of(const BatchView& view, std::uint8_t* pinned_edges) const;
  void launch_reconstruct_of(const BatchView& view, const DeviceMemory::Batch& d,
                             std::span<const core::PictureParams> params, int pictures_on_device) const;
  void launch_steps(const BatchView& view, const BatchPictures& pictures, const DeviceMemory::Batch& d,
                    const PinnedMemory::Batch& pinned, int pictures_on_device);
  const Stream& launch_cavlc(BatchView view, const DeviceMemory::Batch& d, entropy::PackedPicture* pictures);

  const StreamParams& params_;
  const DeviceMemory& d_;
  const PinnedMemory& pinned_;
  ClipKeys keys_;
  std::vector<ChainView> chains_;  // where there are P pictures; `source` is that of a chain's latest picture
  Stream stream_;
  Event tabled_;                         // the parameters of the latest batch are on the device
  std::unique_ptr<Event> offsets_done_;  // for Decisions::aq
  std::optional<EdgeGuide> edge_guide_;  // for Decisions::edge_detector
  std::shared_ptr<QpOffsetRelay> relay_;
};

}  // namespace cu264::encoder::cuda
