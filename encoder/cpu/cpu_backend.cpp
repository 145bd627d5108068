// The CPU backend: several pictures in flight, whose slices are encoded in parallel on oneTBB. The caller's
// thread is one of Config::threads: it works while it waits in collect(). Tasks take slices by ticket, those
// of the oldest picture first, so it does not matter which thread runs which task, and the bytes do not
// depend on it.
#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "core/slice_header.h"
#include "encoder/backend.h"
#include "encoder/cpu/gop_chain.h"
#include "encoder/cpu/ingest.h"
#include "encoder/cpu/p_picture.h"
#include "encoder/cpu/picture_in_flight.h"
#include "encoder/cpu/reconstruct_slice.h"
#include "encoder/output_picture.h"
#include "vision/detector_backend.h"

namespace cu264::encoder {
namespace {

// The pictures of a stream with P pictures, which are reconstructed one after another.
struct Chain {
  GopChain memory;
  bool open = false;         // the memory is there
  std::exception_ptr error;  // of the last picture
  std::mutex mutex;          // guards the rest
  bool busy = false;         // a picture is being reconstructed
  std::deque<PictureInFlight*> waiting;
};

// oneTBB has no more workers than the machine has cores.
int usable_threads(int threads) {
  const int cores = tbb::info::default_concurrency();
  return threads > 0 ? std::min(threads, cores) : cores;
}

// Enough pictures to keep `threads` busy, and a few more for the time in which the caller, who is one of the
// threads, prepares or reads a picture. With one more picture two threads are 1.7 times as fast as one
// thread, with four more 1.83 times.
int pictures_in_flight(int threads, int slices) {
  return threads == 1 ? 1 : (threads + slices - 1) / slices + 4;
}

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(const StreamParams& params)
      : params_(params),
        matrix_(core::make_colour_matrix(params.input.matrix_coefficients, params.input.full_range)),
        threads_(usable_threads(params.execution.threads)),
        arena_(threads_, 1),
        in_flight_(static_cast<std::size_t>(pictures_in_flight(threads_, params.format.slices))),
        qp_offsets_(static_cast<std::size_t>(params.execution.streams)) {
    check_streams(params);
    for (PictureInFlight& work : in_flight_) work.resize(params);
    if (params.format.inter) chains_ = std::vector<Chain>(static_cast<std::size_t>(params.execution.streams));
    prepare_marks();
    open_detector();
  }

  ~CpuBackend() override {
    next_ = submitted_.load();  // slices and pictures that have not begun are dropped
    for (Chain& chain : chains_) {
      const std::lock_guard lock(chain.mutex);
      chain.waiting.clear();
    }
    arena_.execute([this] {
      for (PictureInFlight& work : in_flight_) work.tasks.wait();
    });
  }

  int capacity() const override { return static_cast<int>(in_flight_.size()); }

  void submit(const Job& job) override {
    const core::PictureParams& params = job.picture;
    check_picture(params, params_);
    PictureInFlight& work = in_flight_[sent_ % in_flight_.size()];
    ingest(job.frame.frame, work.picture, matrix_);
    set_qp_offsets(work.picture, params);
    if (params_.outputs.edge_maps) work.edges = edges_;
    if (params_.protection.marks)
      params_.protection.marks->plan(static_cast<std::uint32_t>(params.index), work.picture.marks);
    work.params = params;
    work.replaces = job.replaces;
    work.picture.inter = !params.key;
    work.slices_left = params_.format.slices;
    work.done = false;
    ++sent_;
    if (params_.format.inter) {
      join_chain(work);
    } else {
      submitted_ += static_cast<std::uint64_t>(params_.format.slices);
      begin_slices(work);
    }
    if (threads_ == 1) signal();
  }

  void flush() override {}  // pictures start at once: there are no batches

  State poll() override {
    if (collected_ == sent_) return State::idle;
    // With a single thread the work is done in collect().
    const bool ready = threads_ == 1 || in_flight_[collected_ % in_flight_.size()].done;
    return ready ? State::ready : State::working;
  }

  void notify(std::shared_ptr<Notifier> notifier) override {
    notifier_owner_ = std::move(notifier);
    notifier_ = notifier_owner_.get();
    notifier_owner_->signal();
    if (needs_worker() && collected_ < sent_) arena_.enqueue([] {});  // pictures sent before need one too
  }

  CodedAccessUnit collect() override {
    PictureInFlight& work = in_flight_[collected_++ % in_flight_.size()];
    arena_.execute([&] { work.tasks.wait(); });
    work.done.wait(
        false);  // a task of a later picture may have taken a slice of this one and still be encoding it
    return std::exchange(work.unit, {});
  }

  // For another size the backend is opened anew: memory costs little on the host.
  bool restart(const StreamParams& params, int) override {
    if (params.format != params_.format || params.execution != params_.execution) return false;
    const bool same_detector = params.decisions.edge_detector == params_.decisions.edge_detector;
    params_ = params;
    prepare_marks();
    if (!same_detector) open_detector();
    return true;
  }

 private:
  // oneTBB guarantees a worker only for a task that is enqueued. Tasks that are merely run may lie idle until
  // somebody waits for them in collect(), which a caller who waits for a notifier does not do. For such a
  // caller a task is enqueued, and its worker takes the others too. With a single thread there must be no
  // worker.
  bool needs_worker() const { return threads_ > 1 && notifier_ != nullptr; }

  void begin_slices(PictureInFlight& work) {
    const auto encode = [this] { encode_next(); };
    const int enqueued = needs_worker() ? 1 : 0;
    arena_.execute([&] {
      for (int s = enqueued; s < params_.format.slices; ++s) work.tasks.run(encode);
    });
    if (enqueued > 0) arena_.enqueue(work.tasks.defer(encode));
  }

  void set_qp_offsets(CpuPicture& picture, const core::PictureParams& params) {
    picture.qp_offsets.clear();
    if (!params_.decisions.aq) return;
    if (params_.decisions.aq->mode != AqMode::none) {
      // A stream's pictures come in order, and the offsets of each may depend on those of the picture before.
      std::vector<std::int8_t>& qp_offsets = qp_offsets_[params.stream];
      if (params.index == 0) qp_offsets.clear();
      const Plane& luma = picture.source[0];
      if (detector_) detector_->detect({{luma.row(0), luma.width}, {edges_.data(), params_.format.width}});
      arena_.execute([&] { tbb::this_task_arena::isolate([&] { compute_qp_offsets(luma, qp_offsets); }); });
      picture.qp_offsets = qp_offsets;
    } else if (params.raised_rows > 0) {
      picture.qp_offsets.assign(picture.macroblocks.size(), 0);
    }
    if (params.raised_rows > 0)
      raise_rows(params, params_.format.mb_width, params_.format.mb_height, picture.qp_offsets);
  }

  void compute_qp_offsets(const Plane& luma, std::vector<std::int8_t>& qp_offsets) const {
    if (params_.decisions.aq->mode == AqMode::steps) {
      step_qp_offsets(*params_.decisions.aq, luma.row(0), luma.width, params_.format.mb_width,
                      params_.format.mb_height, qp_offsets);
    } else {
      edge_map_qp_offsets(*params_.decisions.aq, luma.row(0), luma.width, detector_ ? edges_.data() : nullptr,
                          params_.format.width, params_.format.width, params_.format.height, qp_offsets);
    }
  }

  // The detector has an arena of its own, so the thread that submits takes no slice before its picture's
  // edges are there.
  void open_detector() {
    detector_.reset();
    if (!params_.decisions.edge_detector) return;
    edges_.resize(static_cast<std::size_t>(params_.format.width) *
                  static_cast<std::size_t>(params_.format.height));
    detector_ =
        vision::open_cpu_detector(vision::canny_params(*params_.decisions.edge_detector),
                                  params_.format.width, params_.format.height, params_.execution.threads);
  }

  void prepare_marks() {
    if (!params_.protection.marks) return;
    for (PictureInFlight& work : in_flight_) {
      work.picture.marks.resize(work.picture.macroblocks.size());
      work.picture.mark_parity = params_.protection.marks->by_parity();
    }
  }

  // Takes the next ticket, if there is one, and encodes its slice.
  void encode_next() {
    const auto slices = static_cast<std::uint64_t>(params_.format.slices);
    std::uint64_t ticket = next_;
    do {
      if (ticket >= submitted_) return;
    } while (!next_.compare_exchange_weak(ticket, ticket + 1));
    PictureInFlight& work = in_flight_[ticket / slices % in_flight_.size()];
    reconstruct_and_code(work, static_cast<int>(ticket % slices));
    if (--work.slices_left == 0) complete(work);
  }

  void complete(PictureInFlight& work) {
    finish_picture(work, params_);
    work.done = true;
    work.done.notify_all();
    signal();
  }

  void signal() {
    if (Notifier* const notifier = notifier_) notifier->signal();
  }

  // Begins the picture, or leaves that to the one before in its chain. Memory is taken when a stream sends
  // its first picture.
  void join_chain(PictureInFlight& work) {
    Chain& chain = chains_[work.params.stream];
    if (!chain.open) chain.memory.resize(params_.format.mb_width, params_.format.mb_height);
    chain.open = true;
    {
      const std::lock_guard lock(chain.mutex);
      if (chain.busy) return chain.waiting.push_back(&work);
      chain.busy = true;
    }
    begin_in_chain(work);
  }

  // Begins the next picture of the chain, if there is one: under the lock, so that the destructor, which
  // empties the chain, waits for it.
  void leave_chain(Chain& chain) {
    const std::lock_guard lock(chain.mutex);
    chain.busy = !chain.waiting.empty();
    if (!chain.busy) return;
    begin_in_chain(*chain.waiting.front());
    chain.waiting.pop_front();
  }

  void begin_in_chain(PictureInFlight& work) {
    const auto encode = [this, &work] { encode_in_chain(work); };
    if (needs_worker()) {
      arena_.enqueue(work.tasks.defer(encode));
    } else {
      arena_.execute([&] { work.tasks.run(encode); });
    }
  }

  // Calls work(0) .. work(count - 1) on all threads. The thread that waits begins no other picture meanwhile.
  static void for_all(int count, const std::function<void(int)>& work) {
    tbb::this_task_arena::isolate([&] { tbb::parallel_for(0, count, work); });
  }

  // What comes after a picture that failed would show the wrong thing, so it fails too, up to the next key
  // picture, unless it takes that picture's place.
  void encode_in_chain(PictureInFlight& work) {
    Chain& chain = chains_[work.params.stream];
    try {
      if (work.params.key || work.replaces) chain.error = nullptr;
      if (chain.error) std::rethrow_exception(chain.error);
      reconstruct_in_chain(work, chain);
    } catch (...) {
      work.slices[0].error = chain.error = std::current_exception();
    }
    leave_chain(chain);  // other threads may begin the next picture while this one codes the slices
    if (!work.slices[0].error) for_all(params_.format.slices, [&](int s) { code_slice(work, s, params_); });
    complete(work);
  }

  void reconstruct_in_chain(PictureInFlight& work, Chain& chain) const {
    const PPicture picture{work.picture, chain.memory, work.params.qp, params_.decisions.preset};
    begin_picture(picture, work.replaces, for_all);
    if (work.picture.inter) {
      reconstruct_p_picture(picture, for_all);
    } else {
      reconstruct_i_picture(work.picture, picture.qp, picture.preset, for_all);
    }
    // The filter changes samples that slices do not code: those of I_PCM come from the source.
    if (work.params.deblock) filter_picture(work.picture, for_all);
    keep_picture(picture);
  }

  void reconstruct_and_code(PictureInFlight& work, int index) const {
    try {
      reconstruct_slice(work.picture, index, work.params.qp, params_.decisions.preset);
    } catch (...) {
      work.slices[static_cast<std::size_t>(index)].error = std::current_exception();
      return;
    }
    code_slice(work, index, params_);
  }

  StreamParams params_;
  const core::ColourMatrix matrix_;
  const int threads_;
  tbb::task_arena arena_;
  std::vector<PictureInFlight> in_flight_;
  std::vector<Chain> chains_;  // [stream], where there are P pictures
  // [stream]: offsets of the stream's last picture, with adaptive quantisation
  std::vector<std::vector<std::int8_t>> qp_offsets_;
  std::unique_ptr<canny::DetectorBackend> detector_;  // null unless edges guide the quantisation
  std::vector<std::uint8_t> edges_;                   // of the latest picture
  std::atomic<std::uint64_t> next_ =
      0;  // the first ticket not taken; ticket / slices is the number of the picture
  std::atomic<std::uint64_t> submitted_ = 0;  // number of tickets issued
  std::uint64_t sent_ = 0;                    // pictures
  std::uint64_t collected_ = 0;
  std::shared_ptr<Notifier> notifier_owner_;
  std::atomic<Notifier*> notifier_ = nullptr;
};

}  // namespace

std::unique_ptr<Backend> open_cpu_backend(const StreamParams& params) {
  try {
    return std::make_unique<CpuBackend>(params);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, "not enough memory for the pictures in flight",
                "use fewer threads");
  }
}

}  // namespace cu264::encoder
