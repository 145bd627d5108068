// Runs the encoder's stages on the GPU one by one, outside of a session.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

#include "bench/gpu_bench.h"
#include "core/bit_ops.h"
#include "core/device_batch.h"
#include "cu264/encoder.h"
#include "encoder/adaptive_quantisation/device_qp_offsets.h"
#include "encoder/cuda/batch_tables.h"
#include "encoder/cuda/device_layout.h"
#include "encoder/cuda/encrypt.h"
#include "encoder/cuda/search/reconstruct.h"
#include "encoder/stream_params.h"
#include "entropy/pack/pack_batch.h"

namespace cu264::bench {

// A batch in the backend's own layout, on which the stages work.
class StageBench {
 public:
  StageBench(const Clip& clip, const FramePool& pool, const Config& config, int batch)
      : params_(encoder::stream_params(config)), source_bytes_(clip.frame_bytes()), qp_(config.qp) {
    std::size_t bytes = 0;
    encoder::cuda::lay_out_device(params_, batch, nullptr, bytes);
    d_allocation_ = allocate_device(bytes, 0);
    d_ =
        encoder::cuda::lay_out_device(params_, batch, static_cast<std::uint8_t*>(d_allocation_.get()), bytes);
    std::vector<core::PictureParams> pictures;
    std::vector<core::SourcePicture> sources;
    for (int i = 0; i < batch; ++i) {
      const Frame frame = pool.frame(static_cast<std::uint64_t>(i));
      pictures.push_back(encoder::picture_params(config, static_cast<std::uint64_t>(i)));
      core::SourcePicture& source = sources.emplace_back();
      std::copy(std::begin(frame.plane), std::end(frame.plane), source.plane);
      std::copy(std::begin(frame.pitch), std::end(frame.pitch), source.pitch);
    }
    for (int i = 0; i < 2; ++i) {  // code_and_pack() copies the second into the first
      upload(d_.batch[i].sources, sources);
      upload(d_.batch[i].params, pictures);
    }
    if (params_.decisions.edge_detector)
      edge_guide_.emplace(*params_.decisions.edge_detector, clip.width, clip.height, batch);
    packed_ = allocate_device(static_cast<std::size_t>(batch) * sizeof(entropy::PackedPicture), 0);
    entropy::launch_prepare_pack(d_.pack_scratch, nullptr);
    if (params_.decisions.aq) {
      encoder::cuda::launch_qp_offset_reset(params_.format.mb_width * params_.format.mb_height,
                                            d_.qp_offsets.previous, nullptr);
    }
    view_.pictures = batch;
    view_.width = clip.width, view_.height = clip.height;
    view_.mb_width = params_.format.mb_width, view_.mb_height = params_.format.mb_height;
    view_.sources = d_.batch[0].sources;
    view_.params = d_.batch[0].params;
    view_.macroblocks = d_.macroblocks;
    view_.levels = d_.batch[0].levels;
    view_.total_coeff = d_.total_coeff;
  }

  void reconstruct() const {
    encoder::cuda::launch_reconstruct(view_, view_.pictures, qp_, params_.decisions.preset,
                                      d_.batch[0].reconstruct_scratch, nullptr);
  }
  void adaptive_quantisation() const {
    vision::cuda::PicturePlanes luma;
    luma.table = view_.sources;
    if (edge_guide_) {
      edge_guide_->launch_sums(luma, view_.pictures, d_.edge_guide, d_.qp_offsets.sums, nullptr, nullptr);
    } else if (params_.decisions.aq->mode == encoder::AqMode::steps) {
      encoder::cuda::launch_step_sums(luma, view_.width, view_.height, view_.pictures, d_.qp_offsets.sums,
                                      nullptr);
    } else {
      encoder::cuda::launch_macroblock_sums(luma, {}, view_.width, view_.height, view_.pictures,
                                            d_.qp_offsets.sums, nullptr);
    }
    encoder::cuda::launch_qp_offsets(*params_.decisions.aq, view_.mb_width, view_.mb_height, view_.pictures,
                                     d_.qp_offsets, nullptr, view_.params);
  }
  // Computes the keystream alone. From then on code_and_pack() computes it again and codes what it encrypts.
  void encrypt() {
    encrypts_ = true;
    auto* const d_words = static_cast<std::uint32_t*>(d_.batch[0].coded);
    encoder::cuda::launch_group_keystream(view_, plan(), {d_words, nullptr}, nullptr);
  }
  void code_and_pack() const {
    entropy::LaunchCode code = entropy::launch_code;
    if (encrypts_) {
      code = [this](const core::BatchView& batch, const entropy::CodeScratch& scratch,
                    const entropy::GroupBits& bits, cudaStream_t stream) {
        encoder::cuda::launch_code_encrypted(batch, plan(), scratch, bits, stream);
      };
    }
    code_and_pack(d_.pack_scratch, nullptr, code, nullptr);
  }
  // Does it by other forms. `d_scratch` has pack_scratch_bytes() for them and was made ready.
  void code_and_pack(void* d_scratch, const entropy::EntropyKernel* kernel, const entropy::LaunchCode& code,
                     const entropy::Packer* packer) const {
    // The stream of another batch receives the result, since the batch's own stream overlaps its levels.
    const entropy::PackMemory memory{d_scratch, d_.batch[0].coded, d_.batch[1].stream, d_.stream_bytes};
    const encoder::cuda::DeviceMemory::Batch& d = d_.batch[0];
    encoder::cuda::launch_batch_tables(view_, {d_.batch[1].sources, d_.batch[1].params},
                                       {d.sources, d.params, d.slice_headers}, nullptr);
    entropy::launch_code_and_pack(view_, d.slice_headers, memory, packed(), nullptr, kernel, code, packer);
  }
  const core::BatchView& view() const { return view_; }

  // Bytes that must be moved once, whatever the kernels do. Valid after both stages have run.
  double source_bytes() const { return static_cast<double>(source_bytes_) * view_.pictures; }
  double coded_bytes() const {
    const std::size_t mbs =
        static_cast<std::size_t>(view_.pictures) * static_cast<std::size_t>(view_.macroblocks_per_picture());
    std::vector<core::MacroblockRecord> records(mbs);
    check_cuda(cudaMemcpy(records.data(), d_.macroblocks, mbs * sizeof(records[0]), cudaMemcpyDeviceToHost),
               "downloading the macroblocks");
    double bytes = static_cast<double>(mbs * (sizeof(records[0]) + core::kTotalCoeffStride));
    for (const core::MacroblockRecord& mb : records) {
      bytes += core::count_ones(mb.nonzero_blocks) * core::kLevelsPerBlock * double{sizeof(std::int16_t)};
    }
    return bytes;
  }
  double stream_bytes() const {
    entropy::PackedPicture last;
    check_cuda(cudaMemcpy(&last, packed() + view_.pictures - 1, sizeof(last), cudaMemcpyDeviceToHost),
               "downloading the sizes");
    return static_cast<double>(last.offset + last.size);
  }

 private:
  template <class T>
  static void upload(T* d_to, const std::vector<T>& from) {
    check_cuda(cudaMemcpy(d_to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice), "uploading");
  }

  entropy::PackedPicture* packed() const { return static_cast<entropy::PackedPicture*>(packed_.get()); }

  encoder::cuda::EncryptionPlan plan() const {
    const protect::StreamKeys& keys = params_.protection.cipher->keys();
    return {protect::aes_expand_key(keys.keystream_key().data()), keys.nonce(),
            params_.protection.cipher->parts()};
  }

  const encoder::StreamParams params_;
  const std::size_t source_bytes_;  // bytes of a frame
  const int qp_;
  DeviceAllocation d_allocation_;
  DeviceAllocation packed_;  // entropy::PackedPicture[picture]
  encoder::cuda::DeviceMemory d_;
  std::optional<encoder::cuda::EdgeGuide> edge_guide_;
  core::BatchView view_;
  bool encrypts_ = false;
};

}  // namespace cu264::bench
