// The backend of one device. It has three streams: one uploads the frames of the next batch, one encodes, and
// one downloads the previous batch. The host waits only for results, in collect().
//
// Two batches take turns in the memory. As at most capacity() pictures are in flight, the first picture of a
// batch has been collected, and so the device has finished that batch, before a frame of the next but one is
// uploaded. The last picture of the batch has been collected before the next but one is launched. With CABAC
// there are three batches, which take turns in the same way, and their packing has streams of its own
// (cabac_stage.h).
#include "encoder/cuda/cuda_backend.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "common/cuda/handles.h"
#include "common/cuda/memory_cache.h"
#include "encoder/cuda/batch_tables.h"
#include "encoder/cuda/cabac_stage.h"
#include "encoder/cuda/clip_keys.h"
#include "encoder/cuda/device_load.h"
#include "encoder/cuda/memory.h"
#include "encoder/cuda/packet_copies.h"
#include "encoder/cuda/qp_offset_relay.h"
#include "encoder/cuda/reconstruct.h"
#include "encoder/cuda/stream_window.h"
#include "encoder/cuda/uploader.h"
#include "encoder/frame_layout.h"
#include "encoder/output_picture.h"

namespace cu264::encoder::cuda {
namespace {

// The pictures of a batch.
struct Pictures {
  PixelFormat format = PixelFormat::i420;
  int count = 0;
};

enum class Progress { idle, encoding, downloading, ready };

// What the host knows of a batch that was launched.
struct Batch {
  Batch(int size, bool yields, const std::uint8_t* d_stream, std::uint8_t* pinned_window,
        std::size_t window_bytes)
      : params(static_cast<std::size_t>(size)),
        window(d_stream, pinned_window, window_bytes, yields),
        tabled(yields),
        sized(yields) {}

  Progress progress = Progress::idle;
  Pictures pictures;
  std::vector<core::PictureParams> params;  // [picture]
  int collected = 0;
  DeviceLoad load;  // while it is being encoded
  StreamWindow window;
  Event tabled;  // its parameters are on the device
  Event sized;   // its sizes and statistics are on the host, and the first part of what is fetched ahead
};

class CudaBackend final : public Backend {
 public:
  CudaBackend(const StageParams& params, int device, int batch, std::shared_ptr<QpOffsetRelay> relay)
      : params_(params), device_(device), size_(batch), relay_(std::move(relay)) {
    check_streams(params);
    const DeviceGuard guard(device);
    const MemoryRequirement required = measure(params, batch);
    d_allocation_ = take_device(required.device, device);
    pinned_allocation_ = take_pinned(required.pinned);
    encode_ = std::make_unique<Stream>();
    download_ = std::make_unique<Stream>();
    try {
      set_up();
    } catch (...) {
      wait_for_device();  // before the memory goes to another owner
      throw;
    }
  }

  // Work in flight still uses the backend's memory and the caller's. If the device is lost, nothing does, so
  // errors do not matter here.
  ~CudaBackend() override {
    copies_.reset();
    wait_for_device();
  }

  bool restart(const StageParams& params, int batch) override {
    check_streams(params);
    const MemoryRequirement required = measure(params, batch);
    if (required.device > d_allocation_.bytes() || required.pinned > pinned_allocation_.bytes()) return false;
    const DeviceGuard guard(device_);
    wait_for_device();
    const bool same_layout = has_layout_of(params, batch);
    params_ = params;
    size_ = batch;
    if (same_layout) {
      keys_.set(params_, d_, *encode_);
    } else {
      set_up();
    }
    return true;
  }

  int capacity() const override { return in_flight() * size_; }

  void submit(const Frame& frame, const core::PictureParams& picture, void* written) override {
    check_picture(picture, params_);
    const DeviceGuard guard(device_);
    advance_all();
    flushed_ = false;
    if (filling_.count == 0) filling_ = {Uploader::format_on_device(frame.format), 0};
    const std::size_t i = static_cast<std::size_t>(filling_.count);
    pinned_.batch[next_].sources[i] =
        uploader_->upload(frame, written, d_.batch[next_].staging + i * d_.staged_bytes);
    pinned_.batch[next_].params[i] = picture;
    if (++filling_.count == size_) launch();
  }

  void flush() override {
    const DeviceGuard guard(device_);
    flushed_ = true;
    launch_rest();
  }

  bool ready() const override {
    Batch& batch = *batches_[collecting_];
    if (batch.progress == Progress::ready || batch.progress == Progress::idle)
      return batch.progress == Progress::ready;
    const DeviceGuard guard(device_);
    advance(collecting_);
    if (batch.progress == Progress::downloading && batch.window.first_part().done())
      batch.progress = Progress::ready;
    return batch.progress == Progress::ready;
  }

  bool working() override {
    const DeviceGuard guard(device_);
    if (flushed_) launch_rest();
    return batches_[collecting_]->progress != Progress::idle;
  }

  void notify(std::shared_ptr<Notifier> notifier) override {
    const DeviceGuard guard(device_);
    if (!notices_) notices_ = std::make_unique<Stream>();
    notifier_ = std::move(notifier);
    for (const auto& batch : batches_) {
      if (batch->progress == Progress::encoding) notify_of(*batch);
    }
    notifier_->signal();
  }

  CodedAccessUnit collect() override {
    const DeviceGuard guard(device_);
    // The rest is launched here and not at the end of the previous call, because packets on the device are
    // valid until this call.
    if (flushed_) launch_rest();
    Batch& batch = *batches_[collecting_];
    if (batch.progress == Progress::encoding) {
      batch.sized.wait();
      advance(collecting_);
    }
    if (batch.progress == Progress::downloading) {
      batch.window.first_part().wait();
      batch.progress = Progress::ready;
    }
    if (batch.collected == 0 && copies_) {
      copies_->begin(pinned_.batch[collecting_].pictures, batch.pictures.count, batch.window, *download_);
    }
    // The picture counts as collected even if this throws.
    const int index = collecting_, picture = batch.collected++;
    if (batch.collected == batch.pictures.count) {
      batch.progress = Progress::idle;
      collecting_ = (collecting_ + 1) % in_flight();
    }
    return unit_of(index, picture);
  }

 private:
  // Lays out the memory and fills its tables.
  void set_up() {
    std::size_t bytes = 0;
    d_ = lay_out_device(params_, size_, d_allocation_.get(), bytes);
    pinned_ = lay_out_pinned(params_, size_, pinned_allocation_.get(), bytes);
    // A caller who sends one picture at a time wants it back soon, so the thread that waits for it spins.
    const bool yields = size_ > 1 || params_.sleeps;
    copies_.reset();
    if (!params_.device_output) copies_ = std::make_unique<PacketCopies>(size_, device_);
    batches_.clear();
    for (int i = 0; i < in_flight(); ++i) {
      batches_.push_back(std::make_unique<Batch>(size_, yields, d_.batch[i].stream, pinned_.batch[i].window,
                                                 pinned_.window_bytes));
    }
    cabac_.reset();
    if (params_.cabac) cabac_ = std::make_unique<CabacStage>(in_flight());
    next_ = collecting_ = 0;
    filling_ = {};
    uploader_ = std::make_unique<Uploader>(params_, d_.rgb, device_);
    if (!params_.cabac) entropy::launch_prepare_pack(d_.pack_scratch, encode_->get());
    if (!params_.device_output) {  // copies may read more than has been written
      for (int i = 0; i < in_flight(); ++i) {
        check_cuda(cudaMemsetAsync(d_.batch[i].stream, 0, pinned_.window_bytes, encode_->get()),
                   "clearing device memory");
      }
    }
    if (params_.aq) {
      if (!offsets_done_) offsets_done_ = std::make_unique<Event>();
      launch_qp_offset_reset(static_cast<int>(relay_bytes(params_)), d_.qp_offsets.previous, encode_->get());
    }
    if (params_.reconstruction) output_.resize(params_.mb_width, params_.mb_height, params_.slices);
    keys_.set(params_, d_, *encode_);
  }

  // Whether a batch of the other parameters has the memory that is laid out, and tables that are filled.
  bool has_layout_of(const StageParams& other, int batch) const {
    const auto shape = [](const StageParams& p) {
      return std::tuple(p.width, p.height, p.slices, p.aq.has_value(), p.reconstruction, p.device_output,
                        p.entropy_kernel, p.input_format, p.matrix_coefficients, p.full_range, p.streams,
                        p.marks ? p.marks->frame().size() : 0, p.cipher != nullptr, batches_in_flight(p));
    };
    return batch == size_ && shape(other) == shape(params_);
  }

  void wait_for_device() const {
    if (uploader_) cudaStreamSynchronize(uploader_->stream().get());
    keys_.wait();
    cudaStreamSynchronize(encode_->get());
    if (cabac_) cabac_->wait();
    cudaStreamSynchronize(download_->get());
    if (notices_) cudaStreamSynchronize(notices_->get());
  }

  BatchView view_of(const Pictures& pictures, const DeviceMemory::Batch& d) const {
    BatchView view;
    view.pictures = pictures.count;
    view.width = params_.width, view.height = params_.height;
    view.format = pictures.format;
    view.mb_width = params_.mb_width, view.mb_height = params_.mb_height;
    view.slices = params_.slices;
    view.transform_8x8_mode = params_.transform_8x8_mode;
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

  // Launches the batch that has been submitted. The one before the last has been collected: see the top of
  // this file.
  void launch() {
    Batch& batch = *batches_[next_];
    const DeviceMemory::Batch& d = d_.batch[next_];
    const PinnedMemory::Batch& pinned = pinned_.batch[next_];
    batch.pictures = std::exchange(filling_, {});
    batch.collected = 0;
    const std::size_t pictures = static_cast<std::size_t>(batch.pictures.count);
    std::copy_n(pinned.params, pictures, batch.params.begin());
    BatchView view = view_of(batch.pictures, d);
    launch_batch_tables(view, {pinned.sources, pinned.params}, {d.sources, d.params, d.slice_headers},
                        encode_->get());
    uploader_->join(*encode_);
    if (has_qp_offsets(batch)) view.qp_offsets = launch_qp_offsets_of(view);
    if (params_.marks) {
      batch.tabled.record(encode_->get());
      keys_.plan_marks(d, view.pictures, view.macroblocks_per_picture(), batch.tabled, *encode_);
    }
    batch.load = DeviceLoad(device_, view.pictures);
    launch_reconstruct(view, batch.load.pictures_on_device(), common_qp(batch), params_.preset,
                       d.reconstruct_scratch, encode_->get(), d.marks,
                       params_.marks && params_.marks->by_parity());
    if (params_.reconstruction) {
      const std::size_t mbs = pictures * static_cast<std::size_t>(view.macroblocks_per_picture());
      copy(pinned.macroblocks, d_.macroblocks, mbs, cudaMemcpyDeviceToHost, *encode_);
      copy(pinned.reconstruction, d_.reconstruction, mbs * 384, cudaMemcpyDeviceToHost, *encode_);
    }
    const Stream& packed = params_.cabac ? cabac_->launch(view, d_.cabac_scratch, d, next_, *encode_)
                                         : launch_cavlc(view, d, pinned.pictures);
    if (params_.cabac) copy(pinned.pictures, d.pictures, pictures, cudaMemcpyDeviceToHost, packed);
    batch.window.reset();
    if (fetches_ahead(batch)) {
      batch.window.fetch_ahead(packed, batch.sized);
    } else {
      batch.sized.record(packed.get());
    }
    batch.progress = Progress::encoding;
    if (notifier_) notify_of(batch);
    next_ = (next_ + 1) % in_flight();
  }

  // Codes with CAVLC and packs behind the search. Returns the stream that the coded pictures come from.
  const Stream& launch_cavlc(BatchView view, const DeviceMemory::Batch& d, entropy::PackedPicture* pictures) {
    entropy::LaunchCode code = entropy::launch_code;
    if (params_.cipher && params_.entropy_kernel != nullptr) {
      view = launch_encrypt(view, keys_.encryption(), encode_->get());
    } else if (params_.cipher) {
      code = [this](const BatchView& plain, const entropy::CodeScratch& scratch,
                    const entropy::GroupBits& bits, cudaStream_t stream) {
        launch_code_encrypted(plain, keys_.encryption(), scratch, bits, stream);
      };
    }
    const entropy::PackMemory memory{d_.pack_scratch, d.coded, d.stream, d_.stream_bytes};
    // What is known of each picture is written to the host's memory.
    entropy::launch_code_and_pack(view, d.slice_headers, memory, pictures, encode_->get(),
                                  params_.entropy_kernel, code);
    return *encode_;
  }

  // The QP of all the batch's pictures, if they have the same.
  static std::optional<int> common_qp(const Batch& batch) {
    const auto first = batch.params.begin();
    const bool common =
        std::all_of(first, first + batch.pictures.count,
                    [&](const core::PictureParams& picture) { return picture.qp == first->qp; });
    return common ? std::optional<int>(first->qp) : std::nullopt;
  }

  // Without adaptive quantisation only raised rows have offsets.
  bool has_qp_offsets(const Batch& batch) const {
    if (!params_.aq || params_.aq->mode != AqMode::none) return params_.aq.has_value();
    const auto first = batch.params.begin();
    return std::any_of(first, first + batch.pictures.count,
                       [](const core::PictureParams& picture) { return picture.raised_rows > 0; });
  }

  // The offsets of a batch's last picture are kept for the next batch: on this device, where one stream keeps
  // the batches in order, or in the relay if several devices take turns.
  const std::int8_t* launch_qp_offsets_of(const BatchView& view) const {
    vision::cuda::PicturePlanes luma;
    luma.table = view.sources;
    const int pictures = view.pictures, width = params_.width, height = params_.height;
    if (relay_) relay_->take(d_.qp_offsets.previous, *encode_);
    if (params_.aq->mode == AqMode::edges) {
      launch_step_sums(luma, width, height, pictures, d_.qp_offsets.sums, encode_->get());
    } else if (params_.aq->mode == AqMode::variance) {
      launch_macroblock_sums(luma, {}, width, height, pictures, d_.qp_offsets.sums, encode_->get());
    }
    launch_qp_offsets(*params_.aq, params_.mb_width, params_.mb_height, pictures, d_.qp_offsets,
                      encode_->get(), view.params);
    if (relay_) relay_->leave(d_.qp_offsets.previous, *encode_, *offsets_done_);
    return d_.qp_offsets.offsets;
  }

  // An incomplete batch may come early, while the one before the last has not been collected yet.
  void launch_rest() {
    if (filling_.count > 0 && batches_[next_]->progress == Progress::idle) launch();
  }

  int in_flight() const { return batches_in_flight(params_); }

  // Whether the stream is fetched before the host knows its size, so that the host is woken once. Behind a
  // full batch the next one is likely to wait, which the copy would delay.
  bool fetches_ahead(const Batch& batch) const {
    return !params_.device_output && (size_ == 1 || batch.pictures.count < size_);
  }

  // Once the sizes are on the host, fetches the stream unless it is there already.
  void advance(int index) const {
    Batch& batch = *batches_[index];
    if (batch.progress != Progress::encoding || !batch.sized.done()) return;
    batch.progress = Progress::ready;
    batch.load = {};
    if (params_.device_output) return;
    const entropy::PackedPicture& first = pinned_.batch[index].pictures[0];
    const entropy::PackedPicture& last = pinned_.batch[index].pictures[batch.pictures.count - 1];
    const std::uint64_t bytes = last.offset + last.size;
    const bool begun = batch.window.fetches(first.offset + first.size);
    batch.window.set_size(bytes);
    if (!batch.window.fetches(bytes)) batch.window.fetch_first(*download_);
    if (begun) return;
    batch.progress = Progress::downloading;
    if (notifier_) signal_behind(*download_);
  }

  // The notifier is signalled once the batch's sizes are known. The host must then fetch the stream, and is
  // signalled again when that is done.
  void notify_of(const Batch& batch) const {
    notices_->wait_for(batch.sized.get());
    signal_behind(*notices_);
  }

  void signal_behind(const Stream& stream) const {
    const auto signal = [](void* notifier) { static_cast<Notifier*>(notifier)->signal(); };
    check_cuda(cudaLaunchHostFunc(stream.get(), signal, notifier_.get()), "asking for a notice");
  }

  void advance_all() const {
    for (int i = 0; i < in_flight(); ++i) advance(i);
  }

  CodedAccessUnit unit_of(int index, int i) {
    Batch& batch = *batches_[index];
    const entropy::PackedPicture& picture = pinned_.batch[index].pictures[i];
    const core::PictureParams& params = batch.params[static_cast<std::size_t>(i)];
    CodedAccessUnit unit;
    if (copies_) unit.slices = copies_->next();
    if (picture.failure != 0 || picture.offset + picture.size > d_.stream_bytes) {
      throw Error(ErrorCode::encode_failure, "picture " + std::to_string(params.index) +
                                                 ": the device could not pack it, failure " +
                                                 std::to_string(picture.failure));
    }
    unit.stats.qp = params.qp;
    unit.stats.mean_qp = mean_qp(params, params_.mb_height);
    unit.stats.intra4x4_mbs = picture.intra4x4_mbs;
    unit.stats.intra8x8_mbs = picture.intra8x8_mbs;
    unit.stats.intra16x16_mbs = picture.intra16x16_mbs;
    unit.stats.pcm_mbs = picture.pcm_mbs;
    unit.stats.header_bits = picture.header_bits;
    unit.stats.residual_bits = picture.residual_bits;
    if (params_.device_output) {
      unit.device_slices = {d_.batch[index].stream + picture.offset, static_cast<std::size_t>(picture.size)};
    }
    if (params_.reconstruction) unit.reconstruction = reconstruction_of(index, i, params.deblock);
    return unit;
  }

  // The loop filter runs on the host: a caller who asks for the reconstruction is checking and not in a
  // hurry.
  std::vector<std::uint8_t> reconstruction_of(int index, int i, bool deblock) {
    const std::size_t mbs = output_.macroblocks.size();
    const PinnedMemory::Batch& pinned = pinned_.batch[index];
    std::copy_n(pinned.macroblocks + i * mbs, mbs, output_.macroblocks.begin());
    const std::uint8_t* from = pinned.reconstruction + i * mbs * 384;
    for (Plane& plane : output_.reconstruction) {
      std::memcpy(plane.samples.data(), from, plane.samples.size());
      from += plane.samples.size();
    }
    return output_picture(output_, deblock, params_);
  }

  StageParams params_;
  const int device_;
  int size_;  // pictures of a full batch
  CachedMemory d_allocation_;
  CachedMemory pinned_allocation_;
  DeviceMemory d_;
  PinnedMemory pinned_;
  ClipKeys keys_;
  std::unique_ptr<Uploader> uploader_;
  std::unique_ptr<Stream> encode_;
  std::unique_ptr<Stream> download_;
  std::unique_ptr<Stream> notices_;       // for notifier_
  std::shared_ptr<Notifier> notifier_;    // null: nobody waits
  std::unique_ptr<Event> offsets_done_;   // for StageParams::aq
  std::shared_ptr<QpOffsetRelay> relay_;  // null for a single device and without adaptive quantisation
  std::vector<std::unique_ptr<Batch>> batches_;
  std::unique_ptr<PacketCopies> copies_;  // null if packets stay on the device
  std::unique_ptr<CabacStage> cabac_;     // null without StageParams::cabac
  Pictures filling_;                      // submitted, but not launched yet
  bool flushed_ = false;
  int next_ = 0;        // the batch that filling_ will become
  int collecting_ = 0;  // the batch of the oldest picture
  CpuPicture output_;
};

}  // namespace

std::unique_ptr<Backend> open_device(const StageParams& params, int device, int batch,
                                     std::shared_ptr<QpOffsetRelay> relay) {
  return std::make_unique<CudaBackend>(params, device, batch, std::move(relay));
}

}  // namespace cu264::encoder::cuda
