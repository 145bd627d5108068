// The encoder of one stream: a session and its pipeline.
#include "cu264/encoder.h"

#include <exception>
#include <optional>
#include <utility>

#include "encoder/encoder_access.h"
#include "encoder/open_pipeline.h"
#include "encoder/session.h"

namespace cu264 {

struct Encoder::Impl {
  explicit Impl(const Config& config, const entropy::EntropyKernel* kernel = nullptr)
      : entropy_kernel(kernel), session(config), opened(encoder::open_pipeline(config, params())) {
    describe();
  }

  encoder::StreamParams params() const {
    encoder::StreamParams params = session.params();
    params.execution.entropy_kernel = entropy_kernel;
    return params;
  }

  void describe() {
    info = session.info();
    info.backend = opened.name;
    info.backend_reason = opened.reason;
    info.batch = opened.batch;
    info.dropped = 0;
  }

  // Begins a clip that is like the previous one.
  void begin_clip() {
    session.begin_clip();
    info.dropped = 0;
    if (!pipeline().restart(params(), opened.batch)) restart();
  }

  void submit(const Frame& frame) {
    encoder::Job job = session.next_job(frame);
    job.frame.frame = frame;
    const std::exception_ptr error = pipeline().submit(std::move(job));
    session.sent(frame);
    if (error) std::rethrow_exception(error);
  }

  void flush(bool ends_clip) {
    pipeline().release(0, ends_clip);
    pipeline().flush();
  }

  // Waits for the oldest picture. Returns nothing if it was left out.
  std::optional<Packet> collect() {
    std::optional<Packet> packet = session.packet_of(pipeline().collect());
    info.dropped = session.dropped();
    return packet;
  }

  void restart() {
    encoder::reopen_pipeline(session.config(), params(), opened);
    if (listens) pipeline().notify(notifier);
    describe();
  }

  encoder::Pipeline& pipeline() const {
    if (!opened.pipeline) {
      throw Error(ErrorCode::invalid_argument, "the encoder is used after an error",
                  "destroy it, and open another one");
    }
    return *opened.pipeline;
  }

  encoder::Notifier& listen() {
    if (!notifier) notifier = std::make_shared<encoder::Notifier>();
    if (!listens) pipeline().notify(notifier);
    listens = true;
    return *notifier;
  }

  bool full() const { return session.pending() >= static_cast<std::size_t>(pipeline().capacity()); }

  const entropy::EntropyKernel* const entropy_kernel;
  encoder::Session session;
  encoder::OpenedPipeline opened;
  EncoderInfo info;
  std::shared_ptr<encoder::Notifier> notifier;  // null until somebody waits
  bool listens = false;                         // the pipeline knows the notifier
  bool draining = false;                        // no frame is taken while packets are left
};

Encoder::Encoder(const Config& config) : impl_{std::make_unique<Impl>(config)} {}
Encoder::Encoder(std::unique_ptr<Impl> impl) noexcept : impl_{std::move(impl)} {}
Encoder::~Encoder() = default;
Encoder::Encoder(Encoder&&) noexcept = default;
Encoder& Encoder::operator=(Encoder&&) noexcept = default;

const EncoderInfo& Encoder::info() const {
  return impl_->info;
}

const std::vector<std::uint8_t>& Encoder::headers() const {
  return impl_->session.headers();
}

bool Encoder::send(const Frame& frame) {
  encoder::Session& session = impl_->session;
  if (session.flushed()) {
    if (session.pending() > 0) return false;
    session.check_marks();
    impl_->begin_clip();
  }
  session.check(frame, impl_->info.backend == "cuda");
  if (impl_->full() || (impl_->draining && session.pending() > 0)) return false;
  impl_->draining = false;
  impl_->submit(frame);
  return true;
}

std::optional<Packet> Encoder::receive() {
  encoder::Session& session = impl_->session;
  while (session.pending() > 0) {
    const bool waits = impl_->full() || session.flushed() || impl_->draining;
    if (!waits && impl_->pipeline().poll() != encoder::State::ready) return std::nullopt;
    if (auto packet = impl_->collect()) return packet;
  }
  session.check_marks();
  return std::nullopt;
}

std::optional<Packet> Encoder::receive(std::chrono::nanoseconds timeout) {
  encoder::Session& session = impl_->session;
  encoder::Notifier& notifier = impl_->listen();
  const encoder::Notifier::Deadline deadline = encoder::Notifier::deadline_in(timeout);
  for (bool in_time = true;;) {
    const std::uint64_t seen = notifier.begin_check();
    if (session.pending() == 0) {
      session.check_marks();
      return std::nullopt;
    }
    encoder::Pipeline& pipeline = impl_->pipeline();
    if (pipeline.poll() == encoder::State::ready) {
      if (auto packet = impl_->collect()) return packet;
      continue;
    }
    if (!in_time || !pipeline.will_signal()) return std::nullopt;
    in_time = notifier.wait(seen, deadline);
  }
}

int Encoder::ready_descriptor() {
  return impl_->listen().descriptor();
}

void Encoder::flush() {
  if (impl_->session.flushed()) return;
  impl_->session.flush();
  impl_->flush(true);
}

void Encoder::drain() {
  if (impl_->session.flushed() || impl_->draining || impl_->session.pending() == 0) return;
  impl_->draining = true;
  impl_->flush(false);
}

void Encoder::reconfigure(const ConfigChanges& changes) {
  impl_->session.reconfigure(changes);
  if (impl_->session.between_clips()) impl_->restart();
}

namespace encoder {

Encoder EncoderAccess::open(const Config& config, const entropy::EntropyKernel* entropy_kernel) {
  Config own = config;
  if (entropy_kernel != nullptr && own.profile == Profile::automatic) own.cavlc = true;
  return Encoder(std::make_unique<Encoder::Impl>(own, entropy_kernel));
}

}  // namespace encoder

}  // namespace cu264
