// One device at work. Three streams: one uploads the frames of the next batch, one encodes, one downloads the
// last batch. The host only waits for results, in collect().
//
// Two batches share the memory in turn. With capacity() pictures in flight at most, the first picture of a
// batch has been collected, so that the batch is off the device, before a frame of the next but one is
// uploaded; and its last picture before that one is launched.
#include "encoder/cuda/cuda_backend.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "common/cuda/handles.h"
#include "encoder/cuda/encrypt.h"
#include "encoder/cuda/memory.h"
#include "encoder/cuda/plan_marks.h"
#include "encoder/cuda/probe_device.h"
#include "encoder/cuda/qp_offset_relay.h"
#include "encoder/cuda/reconstruct.h"
#include "encoder/cuda/slice_headers.h"
#include "encoder/cuda/uploader.h"
#include "encoder/frame_layout.h"
#include "encoder/output_picture.h"

namespace cu264::encoder::cuda {
namespace {

// Pictures that were submitted together.
struct Run {
  PixelFormat format = PixelFormat::i420;
  int pictures = 0;
};

enum class Progress { idle, encoding, downloading, ready };

// A batch that was launched, on the host's side.
struct Batch {
  Batch(int size, bool yields)
      : params(static_cast<std::size_t>(size)), uploaded(yields), sized(yields), downloaded(yields) {}

  Progress progress = Progress::idle;
  Run run;
  std::vector<core::PictureParams> params;  // of its pictures
  int collected = 0;
  std::uint64_t stream_bytes = 0;  // of the last run whose sizes are known
  std::uint64_t window_begin = 0;  // what of the stream is in the pinned window
  std::uint64_t window_end = 0;
  Event uploaded;
  Event sized;  // encoded; sizes and statistics are on the host
  Event downloaded;
};

class CudaBackend final : public Backend {
 public:
  CudaBackend(const StageParams& params, int device, int batch, std::shared_ptr<QpOffsetRelay> relay)
      : params_(params), device_(device), size_(batch), relay_(std::move(relay)) {
    check_streams(params);
    const DeviceGuard guard(device);
    const MemoryRequirement required = measure(params, batch);
    d_allocation_ = allocate_device(required.device, device);
    pinned_allocation_ = allocate_pinned(required.pinned);
    std::size_t bytes = 0;
    d_ = lay_out_device(params, batch, static_cast<std::uint8_t*>(d_allocation_.get()), bytes);
    pinned_ = lay_out_pinned(params, batch, static_cast<std::uint8_t*>(pinned_allocation_.get()), bytes);
    // Whoever sends one picture at a time wants it back soon.
    for (auto& b : batches_) b = std::make_unique<Batch>(batch, batch > 1);
    uploader_ = std::make_unique<Uploader>(params, pinned_, d_.rgb, device);
    encode_ = std::make_unique<Stream>();
    download_ = std::make_unique<Stream>();
    entropy::launch_prepare_pack(d_.pack_scratch, encode_->get());
    if (fetches_ahead()) {  // perhaps more than has been written
      for (const DeviceMemory::Batch& b : d_.batch) {
        check_cuda(cudaMemsetAsync(b.stream, 0, pinned_.window_bytes, encode_->get()),
                   "clearing device memory");
      }
    }
    if (params.marks) {
      plan_ = std::make_unique<Stream>();
      planned_ = std::make_unique<Event>();
      put_mark_plan();
    }
    if (params.cipher) {
      const protect::StreamKeys& keys = params.cipher->keys();
      encryption_ = {protect::aes_expand_key(keys.keystream_key().data()), keys.nonce(),
                     params.cipher->parts(), d_.encrypted_macroblocks};
    }
    if (params.aq) {
      offsets_done_ = std::make_unique<Event>();
      launch_qp_offset_reset(static_cast<int>(relay_bytes(params)), d_.qp_offsets.previous, encode_->get());
    }
    if (params.reconstruction) shown_.resize(params.mb_width, params.mb_height, params.slices);
  }

  // What is under way still uses the memory, ours and the caller's. If the device is lost nothing does.
  ~CudaBackend() override {
    cudaStreamSynchronize(uploader_->stream().get());
    if (plan_) cudaStreamSynchronize(plan_->get());
    cudaStreamSynchronize(encode_->get());
    cudaStreamSynchronize(download_->get());
    protect::wipe(&mark_plan_.key, sizeof mark_plan_.key);
    protect::wipe(&encryption_.key, sizeof encryption_.key);
  }

  int capacity() const override { return kBatchesInFlight * size_; }

  void submit(const Frame& frame, const core::PictureParams& picture) override {
    check_picture(picture, params_);
    const DeviceGuard guard(device_);
    advance_all();
    if (filling_.pictures == 0) filling_ = {Uploader::format_on_device(frame.format), 0};
    const std::size_t i = static_cast<std::size_t>(filling_.pictures);
    pinned_.batch[next_].sources[i] =
        uploader_->upload(frame, picture.index, d_.batch[next_].staging + i * d_.staged_bytes);
    pinned_.batch[next_].params[i] = picture;
    if (++filling_.pictures == size_) launch();
  }

  void flush() override {
    const DeviceGuard guard(device_);
    flushed_ = true;
    launch_rest();
  }

  bool ready() const override {
    const DeviceGuard guard(device_);
    Batch& batch = *batches_[collecting_];
    advance(collecting_);
    if (batch.progress == Progress::downloading && batch.downloaded.done()) batch.progress = Progress::ready;
    return batch.progress == Progress::ready;
  }

  CodedAccessUnit collect() override {
    const DeviceGuard guard(device_);
    // Not at the end of the call before: packets on the device last until this one.
    if (flushed_) launch_rest();
    Batch& batch = *batches_[collecting_];
    if (batch.progress == Progress::encoding) {
      batch.sized.wait();
      advance(collecting_);
    }
    if (batch.progress == Progress::downloading) {
      batch.downloaded.wait();
      batch.progress = Progress::ready;
    }
    CodedAccessUnit unit = unit_of(batch, batch.collected);
    if (++batch.collected == batch.run.pictures) {
      batch.progress = Progress::idle;
      collecting_ = (collecting_ + 1) % kBatchesInFlight;
    }
    return unit;
  }

 private:
  void put_mark_plan() {
    const protect::MarkPlanner& marks = *params_.marks;
    mark_plan_ = {protect::aes_expand_key(marks.keys().keystream_key().data()), marks.keys().nonce(),
                  marks.density(), d_.mark_frame, static_cast<std::uint32_t>(marks.frame().size())};
    check_cuda(cudaMemcpyAsync(d_.mark_frame, marks.frame().data(), marks.frame().size(),
                               cudaMemcpyHostToDevice, encode_->get()),
               "uploading the watermark");
    check_cuda(cudaStreamSynchronize(encode_->get()), "uploading the watermark");
  }

  BatchView view_of(const Run& run, const DeviceMemory::Batch& d) const {
    BatchView view;
    view.pictures = run.pictures;
    view.width = params_.width, view.height = params_.height;
    view.format = run.format;
    view.mb_width = params_.mb_width, view.mb_height = params_.mb_height;
    view.slices = params_.slices;
    view.sources = d.sources;
    view.params = d.params;
    view.macroblocks = d_.macroblocks;
    view.levels = d.levels;
    view.total_coeff = d_.total_coeff;
    view.reconstruction = d_.reconstruction;
    return view;
  }

  template <class T>
  static void copy(T* to, const T* from, std::size_t count, cudaMemcpyKind kind, const Stream& stream) {
    check_cuda(cudaMemcpyAsync(to, from, count * sizeof(T), kind, stream.get()),
               "copying between host and device");
  }

  // Starts what has been submitted. The batch before the last has been collected: see capacity().
  void launch() {
    Batch& batch = *batches_[next_];
    const DeviceMemory::Batch& d = d_.batch[next_];
    const PinnedMemory::Batch& pinned = pinned_.batch[next_];
    batch.run = std::exchange(filling_, {});
    batch.collected = 0;
    const std::size_t pictures = static_cast<std::size_t>(batch.run.pictures);
    // What is said of the frames goes the way of the frames: on another stream it would come behind those of
    // the next batch, since one engine makes all copies to the device.
    copy(d.sources, pinned.sources, pictures, cudaMemcpyHostToDevice, uploader_->stream());
    copy(d.params, pinned.params, pictures, cudaMemcpyHostToDevice, uploader_->stream());
    std::copy_n(pinned.params, pictures, batch.params.begin());
    batch.uploaded.record(uploader_->stream().get());
    encode_->wait_for(batch.uploaded.get());
    BatchView view = view_of(batch.run, d);
    if (params_.aq) view.qp_offsets = launch_qp_offsets_of(view);
    if (params_.marks) plan_marks(batch, d);
    launch_reconstruct(view, common_qp(batch), params_.preset, d.reconstruct_scratch, encode_->get(), d.marks,
                       params_.marks && params_.marks->by_parity());
    entropy::LaunchCode code = entropy::launch_code;
    if (params_.cipher && params_.entropy_kernel != nullptr) {
      view = launch_encrypt(view, encryption_, encode_->get());
    } else if (params_.cipher) {
      code = [this](const BatchView& plain, const entropy::CodeScratch& scratch,
                    const entropy::GroupBits& bits, cudaStream_t stream) {
        launch_code_encrypted(plain, encryption_, scratch, bits, stream);
      };
    }
    const entropy::PackMemory memory{d_.pack_scratch, d.coded, d.stream, d_.stream_bytes};
    launch_slice_headers(view, d_.slice_headers, encode_->get());
    entropy::launch_code_and_pack(view, d_.slice_headers, memory, d.pictures, encode_->get(),
                                  params_.entropy_kernel, code);
    if (params_.reconstruction) {
      const std::size_t mbs = pictures * static_cast<std::size_t>(view.macroblocks_per_picture());
      copy(pinned.macroblocks, d_.macroblocks, mbs, cudaMemcpyDeviceToHost, *encode_);
      copy(pinned.reconstruction, d_.reconstruction, mbs * 384, cudaMemcpyDeviceToHost, *encode_);
    }
    copy(pinned.pictures, d.pictures, pictures, cudaMemcpyDeviceToHost, *encode_);
    batch.window_begin = 0, batch.window_end = window_ahead(batch);
    if (batch.window_end > 0) {
      copy(pinned.window, d.stream, static_cast<std::size_t>(batch.window_end), cudaMemcpyDeviceToHost,
           *encode_);
    }
    batch.sized.record(encode_->get());
    batch.progress = Progress::encoding;
    next_ = (next_ + 1) % kBatchesInFlight;
  }

  // Of all the batch's pictures, if they have one.
  static std::optional<int> common_qp(const Batch& batch) {
    const auto first = batch.params.begin();
    const bool common =
        std::all_of(first, first + batch.run.pictures,
                    [&](const core::PictureParams& picture) { return picture.qp == first->qp; });
    return common ? std::optional<int>(first->qp) : std::nullopt;
  }

  // On a stream of its own, beside the end of the batch before, where the wavefront leaves the device room.
  void plan_marks(const Batch& batch, const DeviceMemory::Batch& d) const {
    plan_->wait_for(batch.uploaded.get());
    launch_plan_marks(mark_plan_, d.params, batch.run.pictures, params_.mb_width * params_.mb_height, d.marks,
                      plan_->get());
    planned_->record(plan_->get());
    encode_->wait_for(planned_->get());
  }

  // Batches come in order on one stream, or in turn on several devices': the offsets of a batch's last
  // picture wait for the next batch.
  const std::int8_t* launch_qp_offsets_of(const BatchView& view) const {
    vision::cuda::PicturePlanes luma;
    luma.table = view.sources;
    const int pictures = view.pictures, width = params_.width, height = params_.height;
    if (relay_) relay_->take(d_.qp_offsets.previous, *encode_);
    if (params_.aq->mode == AqMode::edges) {
      launch_step_sums(luma, width, height, pictures, d_.qp_offsets.sums, encode_->get());
    } else {
      launch_macroblock_sums(luma, {}, width, height, pictures, d_.qp_offsets.sums, encode_->get());
    }
    launch_qp_offsets(*params_.aq, params_.mb_width * params_.mb_height, pictures, d_.qp_offsets,
                      encode_->get(), view.params);
    if (relay_) relay_->leave(d_.qp_offsets.previous, *encode_, *offsets_done_);
    return d_.qp_offsets.offsets;
  }

  // An incomplete batch comes early: the one before the last may still be waiting for its collection.
  void launch_rest() {
    if (filling_.pictures > 0 && batches_[next_]->progress == Progress::idle) launch();
  }

  // Of a single picture the stream comes along with its size, as much as the last one took and a quarter
  // more: that costs less than asking again.
  bool fetches_ahead() const { return size_ == 1 && !params_.device_output; }
  std::uint64_t window_ahead(const Batch& batch) const {
    if (!fetches_ahead()) return 0;
    const std::uint64_t expected = batch.stream_bytes + batch.stream_bytes / 4;
    return expected == 0 ? pinned_.window_bytes : std::min<std::uint64_t>(expected, pinned_.window_bytes);
  }

  // How many bytes to fetch is known once the sizes are here; then they are fetched, if nobody has yet.
  void advance(int index) const {
    Batch& batch = *batches_[index];
    if (batch.progress != Progress::encoding || !batch.sized.done()) return;
    batch.progress = Progress::ready;
    const entropy::PackedPicture& last = pinned_.batch[index].pictures[batch.run.pictures - 1];
    batch.stream_bytes = last.offset + last.size;
    if (params_.device_output || batch.stream_bytes <= batch.window_end) return;
    fetch(index, 0);
    batch.progress = Progress::downloading;
  }

  void advance_all() const {
    for (int i = 0; i < kBatchesInFlight; ++i) advance(i);
  }

  // Moves the window to `begin` of the batch's stream.
  void fetch(int index, std::uint64_t begin) const {
    Batch& batch = *batches_[index];
    batch.window_begin = begin;
    batch.window_end = std::min<std::uint64_t>(batch.stream_bytes, begin + pinned_.window_bytes);
    copy(pinned_.batch[index].window, d_.batch[index].stream + begin,
         static_cast<std::size_t>(batch.window_end - begin), cudaMemcpyDeviceToHost, *download_);
    batch.downloaded.record(download_->get());
  }

  std::vector<std::uint8_t> bytes_of(Batch& batch, const entropy::PackedPicture& picture) const {
    const std::uint8_t* const window = pinned_.batch[collecting_].window;
    std::vector<std::uint8_t> bytes;
    bytes.reserve(static_cast<std::size_t>(picture.size));
    const std::uint64_t end = picture.offset + picture.size;
    for (std::uint64_t at = picture.offset; at < end;) {
      if (at >= batch.window_end) {
        fetch(collecting_, at);
        batch.downloaded.wait();
        if (at >= batch.window_end)
          throw Error(ErrorCode::encode_failure, "the device gave sizes that do not add up");
      }
      const std::uint64_t stop = std::min(end, batch.window_end);
      bytes.insert(bytes.end(), window + (at - batch.window_begin), window + (stop - batch.window_begin));
      at = stop;
    }
    return bytes;
  }

  CodedAccessUnit unit_of(Batch& batch, int i) {
    const entropy::PackedPicture& picture = pinned_.batch[collecting_].pictures[i];
    const core::PictureParams& params = batch.params[static_cast<std::size_t>(i)];
    if (picture.failure != 0 || picture.offset + picture.size > d_.stream_bytes) {
      throw Error(ErrorCode::encode_failure, "picture " + std::to_string(params.index) +
                                                 ": the device could not pack it, failure " +
                                                 std::to_string(picture.failure));
    }
    CodedAccessUnit unit;
    unit.stats.qp = params.qp;
    unit.stats.intra4x4_mbs = picture.intra4x4_mbs;
    unit.stats.intra16x16_mbs = picture.intra16x16_mbs;
    unit.stats.pcm_mbs = picture.pcm_mbs;
    unit.stats.header_bits = picture.header_bits;
    unit.stats.residual_bits = picture.residual_bits;
    if (params_.device_output) {
      unit.device_slices = {d_.batch[collecting_].stream + picture.offset,
                            static_cast<std::size_t>(picture.size)};
    } else {
      unit.slices = bytes_of(batch, picture);
    }
    if (params_.reconstruction) unit.reconstruction = reconstruction_of(i, params.deblock);
    return unit;
  }

  // The loop filter runs on the host: who asks for the reconstruction is checking, not in a hurry.
  std::vector<std::uint8_t> reconstruction_of(int i, bool deblock) {
    const std::size_t mbs = shown_.macroblocks.size();
    const PinnedMemory::Batch& pinned = pinned_.batch[collecting_];
    std::copy_n(pinned.macroblocks + i * mbs, mbs, shown_.macroblocks.begin());
    const std::uint8_t* from = pinned.reconstruction + i * mbs * 384;
    for (Plane& plane : shown_.reconstruction) {
      std::memcpy(plane.samples.data(), from, plane.samples.size());
      from += plane.samples.size();
    }
    return output_picture(shown_, deblock, params_);
  }

  const StageParams params_;
  const int device_;
  const int size_;  // pictures of a full batch
  DeviceAllocation d_allocation_;
  PinnedAllocation pinned_allocation_;
  DeviceMemory d_;
  PinnedMemory pinned_;
  MarkPlan mark_plan_;         // of StageParams::marks
  EncryptionPlan encryption_;  // of StageParams::cipher
  std::unique_ptr<Uploader> uploader_;
  std::unique_ptr<Stream> encode_;
  std::unique_ptr<Stream> download_;
  std::unique_ptr<Stream> plan_;          // of StageParams::marks
  std::unique_ptr<Event> planned_;        // the same
  std::unique_ptr<Event> offsets_done_;   // of StageParams::aq
  std::shared_ptr<QpOffsetRelay> relay_;  // null on a device alone, and without adaptive quantisation
  std::unique_ptr<Batch> batches_[kBatchesInFlight];
  Run filling_;  // submitted and not yet launched
  bool flushed_ = false;
  int next_ = 0;        // the batch that it will be
  int collecting_ = 0;  // the batch that the oldest picture is in
  CpuPicture shown_;
};

}  // namespace

std::unique_ptr<Backend> open_device(const StageParams& params, int device, int batch,
                                     std::shared_ptr<QpOffsetRelay> relay) {
  return std::make_unique<CudaBackend>(params, device, batch, std::move(relay));
}

int choose_batch(const StageParams& params, const std::vector<int>& devices) {
  int batch = params.batch;
  for (const int device : devices) {
    probe_device(device);
    if (params.batch != 0) continue;
    const DeviceGuard guard(device);
    int multiprocessors = 0;
    std::size_t free_bytes = 0, total = 0;
    check_cuda(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
               "asking for the device's properties");
    check_cuda(cudaMemGetInfo(&free_bytes, &total), "asking for the device's memory");
    const int suits = choose_batch(params, multiprocessors, free_bytes);
    batch = batch == 0 ? suits : std::min(batch, suits);
  }
  return batch;
}

MemoryRequirement memory_required(const StageParams& params, const std::vector<int>& devices) {
  MemoryRequirement required =
      measure(params, params.batch != 0 ? params.batch : choose_batch(params, devices));
  if (params.aq && devices.size() > 1) required.pinned += relay_bytes(params);
  return required;
}

}  // namespace cu264::encoder::cuda
