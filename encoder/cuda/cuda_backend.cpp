// The backend of one device. It has three streams: one uploads the frames of the next batch, one encodes
// (batch_stages.h), and one downloads the previous batch. The host waits only for results, in collect().
//
// Two batches take turns in the memory. At most capacity() pictures are in flight. So before a frame of the
// next batch but one is uploaded, the first picture of a batch has been collected, which means that the
// device has finished the batch. Before the next batch but one is launched, the batch's last picture has been
// collected.
#include "encoder/cuda/cuda_backend.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/cuda/handles.h"
#include "common/cuda/memory_cache.h"
#include "encoder/cuda/batch_stages.h"
#include "encoder/cuda/device_layout.h"
#include "encoder/cuda/device_load.h"
#include "encoder/cuda/inter/chain_planner.h"
#include "encoder/cuda/packet_copies.h"
#include "encoder/cuda/published_stages.h"
#include "encoder/cuda/stream_window.h"
#include "encoder/cuda/uploader.h"
#include "encoder/frame_layout.h"
#include "encoder/output_picture.h"

namespace cu264::encoder::cuda {
namespace {

enum class Progress { idle, encoding, downloading, ready };

// What the host knows about a launched batch.
struct Batch {
  Batch(int size, bool yields, const std::uint8_t* d_stream, std::uint8_t* pinned_window,
        std::size_t window_bytes)
      : params(static_cast<std::size_t>(size)),
        window(d_stream, pinned_window, window_bytes, yields),
        sized(yields) {}

  Progress progress = Progress::idle;
  BatchPictures pictures;
  std::vector<core::PictureParams> params;  // [place]
  // Where there are P pictures: the place of each picture in the batch, in the order of submission, and the
  // packets by place once one is collected.
  std::vector<int> places;
  struct CopiedPacket {
    PacketBytes bytes;
    std::exception_ptr error;
  };
  std::vector<CopiedPacket> packets;
  int collected = 0;
  DeviceLoad load;  // while it is being encoded
  StreamWindow window;
  Event sized;  // its sizes and statistics are on the host, and the first part of what is fetched ahead
};

class CudaBackend final : public Backend {
 public:
  CudaBackend(const StreamParams& params, int device, int batch, std::shared_ptr<QpOffsetRelay> relay)
      : params_(params), device_(device), size_(batch) {
    check_streams(params);
    const DeviceGuard guard(device);
    const MemoryRequirement required = memory_of_backend(params, batch);
    d_allocation_ = take_device(required.device, device);
    pinned_allocation_ = take_pinned(required.pinned);
    stages_ = std::make_unique<BatchStages>(params_, d_, pinned_, std::move(relay));
    download_ = std::make_unique<Stream>();
    try {
      set_up();
    } catch (...) {
      wait_for_device();  // before the memory goes to another owner
      throw;
    }
  }

  // Work in flight still uses the backend's memory and the caller's. If the device is lost nothing uses it,
  // so errors do not matter here.
  ~CudaBackend() override {
    const DeviceGuard guard(device_, std::nothrow);
    copies_.reset();
    wait_for_device();
  }

  bool restart(const StreamParams& params, int batch) override {
    check_streams(params);
    const DeviceGuard guard(device_);
    const MemoryRequirement required = memory_of_backend(params, batch);
    if (required.device > d_allocation_.bytes() || required.pinned > pinned_allocation_.bytes()) return false;
    wait_for_device();
    const bool same_layout = has_layout_of(params, batch);
    params_ = params;
    size_ = batch;
    if (same_layout) {
      stages_->begin_clip();
      plan_anew();
    } else {
      set_up();
    }
    return true;
  }

  int capacity() const override { return kBatchesInFlight * size_; }

  void submit(const Job& job) override {
    const Frame& frame = job.frame.frame;
    check_picture(job.picture, params_);
    const DeviceGuard guard(device_);
    advance_all();
    flushed_ = false;
    if (planner_) make_chains_for(job.picture.stream);
    if (filling_.count == 0) filling_.format = Uploader::format_on_device(frame.format);
    const std::size_t i = static_cast<std::size_t>(filling_.count);
    UploadedFrame uploaded =
        uploader_->upload(frame, job.frame.written, d_.batch[next_].staging + i * d_.staged_bytes);
    pinned_.batch[next_].sources[i] = uploaded.planes;
    filling_.written.add(uploaded.written);
    pinned_.batch[next_].params[i] = job.picture;
    if (planner_) filling_.replaces.push_back(job.replaces);
    if (++filling_.count == size_) launch();
  }

  void flush() override {
    const DeviceGuard guard(device_);
    flushed_ = true;
    launch_rest();
  }

  State poll() override {
    Batch& batch = *batches_[collecting_];
    if (batch.progress == Progress::ready) return State::ready;
    if (batch.progress == Progress::idle && !flushed_) return State::idle;
    const DeviceGuard guard(device_);
    advance(collecting_);
    if (batch.progress == Progress::downloading && batch.window.first_part().done())
      batch.progress = Progress::ready;
    if (batch.progress == Progress::ready) return State::ready;
    if (flushed_) launch_rest();
    return batch.progress == Progress::idle ? State::idle : State::working;
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
    // The rest is launched here rather than at the end of the previous call, because packets on the device
    // are valid until this call.
    if (flushed_) launch_rest();
    Batch& batch = *batches_[collecting_];
    while (batch.progress == Progress::encoding) {
      batch.sized.wait();
      advance(collecting_);
    }
    if (batch.progress == Progress::downloading) {
      batch.window.first_part().wait();
      batch.progress = Progress::ready;
    }
    if (batch.collected == 0 && copies_) {
      copies_->begin(pinned_.batch[collecting_].pictures, batch.pictures.count, batch.window, *download_,
                     params_.pacing.packet_capacity, params_.pacing.headroom);
      if (planner_) copy_packets(batch);
    }
    // The picture counts as collected even if this throws.
    const int index = collecting_, picture = batch.collected++;
    const int place = planner_ ? batch.places[static_cast<std::size_t>(picture)] : picture;
    if (batch.collected == batch.pictures.count) {
      batch.progress = Progress::idle;
      collecting_ = (collecting_ + 1) % kBatchesInFlight;
    }
    return unit_of(index, place);
  }

 private:
  // Lays out the memory and fills its tables.
  void set_up() {
    std::size_t bytes = 0;
    d_ = lay_out_device(params_, size_, d_allocation_.get(), bytes);
    pinned_ = lay_out_pinned(params_, size_, pinned_allocation_.get(), bytes);
    // A caller who sends one picture at a time wants it back soon, so the thread that waits for it spins.
    const bool yields = size_ > 1 || params_.execution.sleeps;
    copies_.reset();
    if (!params_.outputs.device_output)
      copies_ = std::make_unique<PacketCopies>(size_, device_, params_.packet_memory);
    batches_.clear();
    for (int i = 0; i < kBatchesInFlight; ++i) {
      batches_.push_back(std::make_unique<Batch>(size_, yields, d_.batch[i].stream, pinned_.batch[i].window,
                                                 pinned_.window_bytes));
    }
    next_ = collecting_ = 0;
    filling_ = {};
    d_chains_.clear();
    uploader_ = std::make_unique<Uploader>(params_, d_.rgb, device_);
    stages_->set_up();
    plan_anew();
    if (params_.outputs.reconstruction)
      output_.resize(params_.format.mb_width, params_.format.mb_height, params_.format.slices);
  }

  // Offsets that adaptive quantisation remembers pass from each picture of a stream to the next.
  void plan_anew() {
    planner_.reset();
    if (!params_.format.inter) return;
    const bool in_order = params_.decisions.aq && params_.decisions.aq->remembers;
    planner_.emplace(static_cast<int>(d_.chains.size()), params_.execution.streams, in_order);
  }

  // A stream needs a chain. The more streams there are, the more chains are made at once, so that this ends
  // soon.
  void make_chains_for(std::uint32_t stream) {
    const int have = static_cast<int>(d_.chains.size()), needed = static_cast<int>(stream) + 1;
    if (needed <= have) return;
    const int wanted = std::min(params_.execution.streams, std::max(needed, 2 * have));
    try {
      add_chains(wanted - have);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory || wanted == needed) throw;
      add_chains(needed - have);
    }
  }

  void add_chains(int count) {
    std::size_t bytes = 0;
    lay_out_chains(params_, count, nullptr, bytes);
    d_chains_.push_back(take_device(bytes, device_));
    const std::vector<ChainView> chains = lay_out_chains(params_, count, d_chains_.back().get(), bytes);
    d_.chains.insert(d_.chains.end(), chains.begin(), chains.end());
    stages_->add_chains(chains);
    planner_->add_chains(count);
  }

  // Returns whether the present memory layout and the filled tables also serve a batch with the other
  // parameters.
  bool has_layout_of(const StreamParams& other, int batch) const {
    const auto mark_bytes = [](const Protection& p) { return p.marks ? p.marks->frame().size() : 0; };
    return batch == size_ && other.format == params_.format && other.decisions == params_.decisions &&
           other.input == params_.input && other.outputs == params_.outputs &&
           other.execution == params_.execution &&
           mark_bytes(other.protection) == mark_bytes(params_.protection) &&
           (other.protection.cipher != nullptr) == (params_.protection.cipher != nullptr) &&
           other.pacing.codes_again == params_.pacing.codes_again;
  }

  void wait_for_device() const {
    if (uploader_) cudaStreamSynchronize(uploader_->stream().get());
    stages_->wait();
    cudaStreamSynchronize(download_->get());
    if (notices_) cudaStreamSynchronize(notices_->get());
  }

  // Launches the batch that has been submitted. The one before the last has been collected: see the top of
  // this file.
  void launch() {
    Batch& batch = *batches_[next_];
    batch.pictures = std::exchange(filling_, {});
    batch.collected = 0;
    if (planner_) arrange(batch, pinned_.batch[next_]);
    std::copy_n(pinned_.batch[next_].params, batch.pictures.count, batch.params.begin());
    batch.load = DeviceLoad(device_, batch.pictures.count);
    const Stream& packed = stages_->launch(next_, batch.pictures, batch.load.pictures_on_device());
    batch.pictures.written = {};
    batch.window.reset();
    if (fetches_ahead(batch)) {
      batch.window.fetch_ahead(packed, batch.sized);
    } else {
      batch.sized.record(packed.get());
    }
    batch.progress = Progress::encoding;
    if (notifier_) notify_of(batch);
    next_ = (next_ + 1) % kBatchesInFlight;
  }

  // Puts the pictures of a batch into the order in which they are coded.
  void arrange(Batch& batch, PinnedMemory::Batch& pinned) {
    const auto count = static_cast<std::size_t>(batch.pictures.count);
    const std::vector<core::PictureParams> params(pinned.params, pinned.params + count);
    const std::vector<SourcePicture> sources(pinned.sources, pinned.sources + count);
    const std::vector<bool> replaces = batch.pictures.replaces;
    batch.pictures.plan = planner_->plan(params);
    batch.places.resize(count);
    for (std::size_t place = 0; place < count; ++place) {
      const auto picture = static_cast<std::size_t>(batch.pictures.plan[place].picture);
      pinned.params[place] = params[picture], pinned.sources[place] = sources[picture];
      batch.pictures.replaces[place] = replaces[picture];
      batch.places[picture] = static_cast<int>(place);
    }
  }

  // An incomplete batch may come early, while the one before the last has not been collected yet.
  void launch_rest() {
    if (filling_.count > 0 && batches_[next_]->progress == Progress::idle) launch();
  }

  // Returns whether the stream is fetched before the host knows its size, so that the host is woken once.
  // After a full batch the next one is probably waiting, and the copy would delay it.
  bool fetches_ahead(const Batch& batch) const {
    return !params_.outputs.device_output && (size_ == 1 || batch.pictures.count < size_);
  }

  // Once the sizes are on the host, fetches the stream unless it is there already.
  void advance(int index) const {
    Batch& batch = *batches_[index];
    if (batch.progress != Progress::encoding || !batch.sized.done()) return;
    batch.progress = Progress::ready;
    batch.load = {};
    const std::span pictures(pinned_.batch[index].pictures, static_cast<std::size_t>(batch.pictures.count));
    if (params_.outputs.device_output) return;
    const std::uint64_t bytes = pictures.back().offset + pictures.back().size;
    const bool begun = batch.window.fetches(pictures.front().offset + pictures.front().size);
    batch.window.set_size(bytes);
    if (!batch.window.fetches(bytes)) batch.window.fetch_first(*download_);
    if (begun) return;
    batch.progress = Progress::downloading;
    if (notifier_) signal_after(*download_);
  }

  // The notifier is signalled once the batch's sizes are known. The host must then fetch the stream, and is
  // signalled again when that is done.
  void notify_of(const Batch& batch) const {
    notices_->wait_for(batch.sized.get());
    signal_after(*notices_);
  }

  void signal_after(const Stream& stream) const {
    const auto signal = [](void* notifier) { static_cast<Notifier*>(notifier)->signal(); };
    check_cuda(cudaLaunchHostFunc(stream.get(), signal, notifier_.get()), "asking for a notice");
  }

  void advance_all() const {
    for (int i = 0; i < kBatchesInFlight; ++i) advance(i);
  }

  // Copies all packets of a batch, in the order in which they lie in its stream.
  void copy_packets(Batch& batch) const {
    batch.packets.assign(static_cast<std::size_t>(batch.pictures.count), {});
    for (Batch::CopiedPacket& packet : batch.packets) {
      try {
        packet.bytes = copies_->next();
      } catch (...) {
        packet.error = std::current_exception();
      }
    }
  }

  static PacketBytes take_packet(Batch::CopiedPacket& packet) {
    if (packet.error) std::rethrow_exception(packet.error);
    return std::move(packet.bytes);
  }

  CodedAccessUnit unit_of(int index, int i) {
    Batch& batch = *batches_[index];
    const entropy::PackedPicture& picture = pinned_.batch[index].pictures[i];
    const core::PictureParams& params = batch.params[static_cast<std::size_t>(i)];
    CodedAccessUnit unit;
    unit.picture = params;
    PacketBytes slices;
    if (copies_) {
      slices = planner_ ? take_packet(batch.packets[static_cast<std::size_t>(i)]) : copies_->next();
    }
    if (picture.failure != 0 || picture.offset + picture.size > d_.stream_bytes) {
      unit.error = std::make_exception_ptr(
          Error(ErrorCode::encode_failure, "picture " + std::to_string(params.index) +
                                               ": the device could not pack it, failure " +
                                               std::to_string(picture.failure)));
      return unit;
    }
    unit.slices = std::move(slices);
    if (!unit.slices.empty()) unit.front = params_.pacing.headroom;
    unit.stats.qp = params.qp;
    unit.stats.mean_qp = mean_qp(params, params_.format.mb_height);
    unit.stats.intra4x4_mbs = picture.intra4x4_mbs;
    unit.stats.intra8x8_mbs = picture.intra8x8_mbs;
    unit.stats.intra16x16_mbs = picture.intra16x16_mbs;
    unit.stats.pcm_mbs = picture.pcm_mbs;
    unit.stats.inter_mbs = picture.inter_mbs;
    unit.stats.header_bits = picture.header_bits;
    unit.stats.residual_bits = picture.residual_bits;
    if (params_.outputs.device_output) {
      unit.device_slices = {d_.batch[index].stream + picture.offset, static_cast<std::size_t>(picture.size)};
    }
    if (params_.outputs.reconstruction) unit.reconstruction = reconstruction_of(index, i, params.deblock);
    if (params_.outputs.edge_maps) {
      const std::size_t pixels =
          static_cast<std::size_t>(params_.format.width) * static_cast<std::size_t>(params_.format.height);
      const std::uint8_t* const from = pinned_.batch[index].edges + static_cast<std::size_t>(i) * pixels;
      unit.edges.assign(from, from + pixels);
    }
    return unit;
  }

  // The loop filter runs on the host: a caller who asks for the reconstruction is checking the encoder and
  // not in a hurry.
  std::vector<std::uint8_t> reconstruction_of(int index, int i, bool deblock) {
    const std::size_t mbs = output_.macroblocks.size();
    const PinnedMemory::Batch& pinned = pinned_.batch[index];
    std::copy_n(pinned.macroblocks + i * mbs, mbs, output_.macroblocks.begin());
    const std::uint8_t* from = pinned.reconstruction + i * mbs * core::MacroblockLayout::kSamples;
    for (Plane& plane : output_.reconstruction) {
      std::memcpy(plane.samples.data(), from, plane.samples.size());
      from += plane.samples.size();
    }
    // Pictures that others refer to are filtered on the device.
    return planner_ ? output_samples(output_, params_) : output_picture(output_, deblock, params_);
  }

  StreamParams params_;
  const int device_;
  int size_;  // pictures of a full batch
  CachedMemory d_allocation_;
  CachedMemory pinned_allocation_;
  std::vector<CachedMemory> d_chains_;  // that came with streams
  DeviceMemory d_;
  PinnedMemory pinned_;
  std::unique_ptr<Uploader> uploader_;
  std::unique_ptr<BatchStages> stages_;
  std::unique_ptr<Stream> download_;
  std::unique_ptr<Stream> notices_;     // for notifier_
  std::shared_ptr<Notifier> notifier_;  // null: nobody waits
  std::vector<std::unique_ptr<Batch>> batches_;
  std::optional<ChainPlanner> planner_;   // where there are P pictures
  std::unique_ptr<PacketCopies> copies_;  // null if packets stay on the device
  BatchPictures filling_;                 // submitted, but not launched yet
  bool flushed_ = false;
  int next_ = 0;        // the batch that filling_ will become
  int collecting_ = 0;  // the batch of the oldest picture
  CpuPicture output_;
};

}  // namespace

std::unique_ptr<Backend> open_device(const StreamParams& params, int device, int batch,
                                     std::shared_ptr<QpOffsetRelay> relay) {
  return std::make_unique<CudaBackend>(params, device, batch, std::move(relay));
}

}  // namespace cu264::encoder::cuda
