#include "encoder/cuda/batch_stages.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "encoder/cuda/batch_tables.h"
#include "encoder/cuda/inter/deblock_batch.h"
#include "encoder/cuda/inter/half_samples.h"
#include "encoder/cuda/inter/reconstruct_p.h"
#include "encoder/cuda/inter/take_reference.h"
#include "encoder/cuda/inter/take_source.h"
#include "encoder/cuda/published_stages.h"
#include "encoder/cuda/search/reconstruct.h"
#include "entropy/cabac/cabac_batch.h"

namespace cu264::encoder::cuda {
namespace {

// The QP of all the batch's pictures, if they have the same.
std::optional<int> common_qp(std::span<const core::PictureParams> pictures) {
  const bool common = std::all_of(pictures.begin(), pictures.end(), [&](const core::PictureParams& picture) {
    return picture.qp == pictures.front().qp;
  });
  return common ? std::optional<int>(pictures.front().qp) : std::nullopt;
}

// Without adaptive quantisation only raised rows have offsets.
bool has_qp_offsets(const StreamParams& params, std::span<const core::PictureParams> pictures) {
  if (!params.decisions.aq || params.decisions.aq->mode != AqMode::none)
    return params.decisions.aq.has_value();
  return std::any_of(pictures.begin(), pictures.end(),
                     [](const core::PictureParams& picture) { return picture.raised_rows > 0; });
}

template <class T>
void copy_to_host(T* to, const T* d_from, std::size_t count, const Stream& stream) {
  check_cuda(cudaMemcpyAsync(to, d_from, count * sizeof(T), cudaMemcpyDeviceToHost, stream.get()),
             "copying from the device");
}

}  // namespace

void BatchStages::set_up() {
  if (!params_.format.cabac) entropy::launch_prepare_pack(d_.pack_scratch, stream_.get());
  if (!params_.outputs.device_output) {  // copies may read more than has been written
    for (const DeviceMemory::Batch& batch : d_.batch) {
      check_cuda(cudaMemsetAsync(batch.stream, 0, pinned_.window_bytes, stream_.get()),
                 "clearing device memory");
    }
  }
  if (params_.decisions.aq) {
    if (!offsets_done_) offsets_done_ = std::make_unique<Event>();
    launch_qp_offset_reset(static_cast<int>(relay_bytes(params_)), d_.qp_offsets.previous, stream_.get());
  }
  edge_guide_.reset();
  if (params_.decisions.edge_detector)
    edge_guide_.emplace(*params_.decisions.edge_detector, params_.format.width, params_.format.height,
                        d_.pictures);
  chains_ = d_.chains;
  begin_clip();
}

const Stream& BatchStages::launch(int index, const BatchPictures& pictures, int pictures_on_device) {
  const DeviceMemory::Batch& d = d_.batch[index];
  const PinnedMemory::Batch& pinned = pinned_.batch[index];
  const std::size_t count = static_cast<std::size_t>(pictures.count);
  const std::span<const core::PictureParams> params(pinned.params, count);
  BatchView view = view_of(pictures, d);
  launch_batch_tables(view, {pinned.sources, pinned.params}, {d.sources, d.params, d.slice_headers},
                      stream_.get());
  pictures.written.hold_back(stream_);
  if (has_qp_offsets(params_, params)) view.qp_offsets = launch_qp_offsets_of(view, pinned.edges);
  if (params_.protection.marks) {
    tabled_.record(stream_.get());
    keys_.plan_marks(d, view.pictures, view.macroblocks_per_picture(), tabled_, stream_);
  }
  if (params_.format.inter) {
    launch_steps(view, pictures, d, pinned, pictures_on_device);
  } else {
    launch_reconstruct_of(view, d, params, pictures_on_device);
  }
  if (params_.outputs.reconstruction) {
    const std::size_t mbs = count * static_cast<std::size_t>(view.macroblocks_per_picture());
    copy_to_host(pinned.macroblocks, d_.macroblocks, mbs, stream_);
    copy_to_host(pinned.reconstruction, d_.reconstruction, mbs * core::MacroblockLayout::kSamples, stream_);
  }
  if (!params_.format.cabac) return launch_cavlc(view, d, pinned.pictures);
  entropy::launch_cabac(view, d.slice_headers, {d_.pictures, d_.cabac_scratch, d.stream}, d.pictures,
                        stream_.get());
  copy_to_host(pinned.pictures, d.pictures, count, stream_);
  return stream_;
}

void BatchStages::launch_reconstruct_of(const BatchView& view, const DeviceMemory::Batch& d,
                                        std::span<const core::PictureParams> params,
                                        int pictures_on_device) const {
  launch_reconstruct(view, pictures_on_device, common_qp(params), params_.decisions.preset,
                     d.reconstruct_scratch, stream_.get(), d.marks,
                     params_.protection.marks && params_.protection.marks->by_parity(),
                     params_.format.scaling_lists);
}

// A step takes the next picture of every chain: key pictures first, then P pictures, which refer to what the
// step before has left in their chains.
void BatchStages::launch_steps(const BatchView& view, const BatchPictures& pictures,
                               const DeviceMemory::Batch& d, const PinnedMemory::Batch& pinned,
                               int pictures_on_device) {
  const auto count = static_cast<std::size_t>(pictures.count);
  for (std::size_t i = 0; i < count; ++i) {
    ChainView& chain = chains_[static_cast<std::size_t>(pictures.plan[i].chain)];
    if (!pictures.replaces[i]) chain.advance();
    pinned.chains[i] = chain;
  }
  check_cuda(cudaMemcpyAsync(d.chains, pinned.chains, count * sizeof(ChainView), cudaMemcpyHostToDevice,
                             stream_.get()),
             "copying to the device");
  for (std::size_t first = 0, end = 0; first < count; first = end) {
    std::size_t keys = first;
    for (end = first; end < count && pictures.plan[end].step == pictures.plan[first].step; ++end) {
      if (pinned.params[end].key) keys = end + 1;
    }
    const auto step = [&](std::size_t from) {
      return StepView{view.part(static_cast<int>(from), static_cast<int>(end - from)), d.chains + from};
    };
    launch_take_source(step(first), stream_.get());
    if (keys > first) {
      launch_reconstruct_of(view.part(static_cast<int>(first), static_cast<int>(keys - first)), d,
                            {pinned.params + first, keys - first}, pictures_on_device);
    }
    if (end > keys)
      launch_reconstruct_p(step(keys), params_.decisions.preset, d_.inter_scratch, stream_.get());
    launch_deblock(step(first).batch, d_.inter_scratch, stream_.get());
    launch_take_reference(step(first), stream_.get());
    launch_half_samples(step(first), stream_.get());
  }
}

void BatchStages::wait() const {
  keys_.wait();
  cudaStreamSynchronize(stream_.get());
}

BatchView BatchStages::view_of(const BatchPictures& pictures, const DeviceMemory::Batch& d) const {
  BatchView view;
  view.pictures = pictures.count;
  view.width = params_.format.width, view.height = params_.format.height;
  view.format = pictures.format;
  view.mb_width = params_.format.mb_width, view.mb_height = params_.format.mb_height;
  view.slices = params_.format.slices;
  view.transform_8x8_mode = params_.format.transform_8x8_mode;
  view.cabac = params_.format.cabac;
  view.sources = d.sources;
  view.params = d.params;
  view.macroblocks = d_.macroblocks;
  view.motion = d_.motion;
  view.levels = d.levels;
  view.total_coeff = d_.total_coeff;
  view.reconstruction = d_.reconstruction;
  return view;
}

// The offsets of a batch's last picture are kept for the next batch: on this device, where one stream keeps
// the batches in order, or in the relay if several devices take turns.
const std::int8_t* BatchStages::launch_qp_offsets_of(const BatchView& view,
                                                     std::uint8_t* pinned_edges) const {
  vision::cuda::PicturePlanes luma;
  luma.table = view.sources;
  const int pictures = view.pictures, width = params_.format.width, height = params_.format.height;
  if (params_.decisions.aq->mode == AqMode::edges) {
    edge_guide_->launch_sums(luma, pictures, d_.edge_guide, d_.qp_offsets.sums, pinned_edges, stream_.get());
  } else if (params_.decisions.aq->mode == AqMode::steps) {
    launch_step_sums(luma, width, height, pictures, d_.qp_offsets.sums, stream_.get());
  } else if (params_.decisions.aq->mode == AqMode::variance) {
    launch_macroblock_sums(luma, {}, width, height, pictures, d_.qp_offsets.sums, stream_.get());
  }
  if (relay_) relay_->take(d_.qp_offsets.previous, stream_);
  launch_qp_offsets(*params_.decisions.aq, params_.format.mb_width, params_.format.mb_height, pictures,
                    d_.qp_offsets, stream_.get(), view.params);
  if (relay_) relay_->leave(d_.qp_offsets.previous, stream_, *offsets_done_);
  return d_.qp_offsets.offsets;
}

// Codes with CAVLC and packs after the search. Returns the stream that the coded pictures come from.
const Stream& BatchStages::launch_cavlc(BatchView view, const DeviceMemory::Batch& d,
                                        entropy::PackedPicture* pictures) {
  const entropy::EntropyKernel* const kernel = entropy_kernel_of(params_);
  entropy::LaunchCode code = entropy::launch_code;
  if (params_.protection.cipher && kernel != nullptr) {
    view = launch_encrypt(view, keys_.encryption(), stream_.get());
  } else if (params_.protection.cipher) {
    code = [this](const BatchView& plain, const entropy::CodeScratch& scratch, const entropy::GroupBits& bits,
                  cudaStream_t stream) {
      launch_code_encrypted(plain, keys_.encryption(), scratch, bits, stream);
    };
  }
  const entropy::PackMemory memory{d_.pack_scratch, d.coded, d.stream, d_.stream_bytes};
  // What is known about each picture is written to the host's memory.
  entropy::launch_code_and_pack(view, d.slice_headers, memory, pictures, stream_.get(), kernel, code,
                                packer_of(params_));
  return stream_;
}

}  // namespace cu264::encoder::cuda
