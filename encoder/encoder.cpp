// The encoder of one stream: a session in front of a backend.
#include "cu264/encoder.h"

#include <optional>
#include <utility>

#include "encoder/encoder_access.h"
#include "encoder/rate_control/controlled_backend.h"
#include "encoder/session.h"
#include "encoder/stages.h"

namespace cu264 {

struct Encoder::Impl {
  explicit Impl(const Config& config, const entropy::EntropyKernel* kernel = nullptr)
      : entropy_kernel(kernel), session(config), opened(encoder::open_backend(config, params())) {
    describe();
  }

  encoder::StageParams params() const {
    encoder::StageParams params = session.params();
    params.entropy_kernel = entropy_kernel;
    return params;
  }

  void describe() {
    info = session.info();
    info.backend = opened.name;
    info.backend_reason = opened.reason;
    info.batch = opened.batch;
    info.dropped = 0;
  }

  // Begins a clip that is like the one before.
  void begin_clip() {
    session.begin_clip();
    info.dropped = 0;
    if (!backend().restart(params(), opened.batch)) restart();
  }

  void submit(const Frame& frame) {
    const core::PictureParams picture = session.next_picture(frame);
    if (opened.controlled != nullptr) {
      opened.controlled->submit(frame, picture, session.next_control(frame));
    } else {
      backend().submit(frame, picture);
    }
    session.sent(frame);
  }

  void flush(bool ends_clip) {
    encoder::Backend& own = backend();
    if (opened.controlled != nullptr) opened.controlled->release(0, ends_clip);
    own.flush();
  }

  // Waits for the oldest picture. Returns nothing if it was left out.
  std::optional<Packet> collect() {
    std::optional<Packet> packet = session.packet_of(backend().collect());
    info.dropped = session.dropped();
    return packet;
  }

  void restart() {
    encoder::restart_backend(session.config(), params(), opened);
    if (listens) backend().notify(notifier);
    describe();
  }

  encoder::Backend& backend() const {
    if (!opened.backend) {
      throw Error(ErrorCode::invalid_argument, "the encoder is used after an error",
                  "destroy it, and open another one");
    }
    return *opened.backend;
  }

  encoder::Notifier& listen() {
    if (!notifier) notifier = std::make_shared<encoder::Notifier>();
    if (!listens) backend().notify(notifier);
    listens = true;
    return *notifier;
  }

  bool full() const { return session.pending() >= static_cast<std::size_t>(backend().capacity()); }

  const entropy::EntropyKernel* const entropy_kernel;
  encoder::Session session;
  encoder::OpenedBackend opened;
  EncoderInfo info;
  std::shared_ptr<encoder::Notifier> notifier;  // null until somebody waits
  bool listens = false;                         // the backend knows the notifier
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
    if (!waits && !impl_->backend().ready()) return std::nullopt;
    if (auto packet = impl_->collect()) return packet;
  }
  session.check_marks();
  return std::nullopt;
}

void Encoder::recycle(Packet&& packet) {
  impl_->session.params().packet_memory->give(std::move(packet.data));
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
    encoder::Backend& backend = impl_->backend();
    if (backend.ready()) {
      if (auto packet = impl_->collect()) return packet;
      continue;
    }
    if (!in_time || !backend.working()) return std::nullopt;
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
