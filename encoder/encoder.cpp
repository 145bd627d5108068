// The session: checks frames, keeps their order and places the headers. The backend does the rest.
#include "cu264/encoder.h"

#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "encoder/config.h"
#include "encoder/encoder_access.h"
#include "encoder/frame_check.h"
#include "encoder/headers.h"
#include "encoder/level.h"
#include "encoder/stages.h"
#include "protect/mark_check.h"

namespace cu264 {
namespace {

std::string widened(const char* side, int samples) {
  return std::string(side) + " " + std::to_string(samples) + " is coded as " +
         std::to_string(encoder::coded_side(samples)) + ", one replicated sample";
}

std::string size_text(int width, int height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

}  // namespace

struct Encoder::Impl {
  struct Pending {
    std::int64_t pts = 0;
    void* user_data = nullptr;
  };

  explicit Impl(const Config& c, const entropy::EntropyKernel* entropy_kernel = nullptr) : config(c) {
    encoder::validate(config);
    const encoder::StreamLevel level = encoder::stream_level(config);
    info.width = encoder::coded_side(config.width);
    info.height = encoder::coded_side(config.height);
    info.level_idc = level.level_idc, info.level_bit_rate = level.bit_rate;
    if (info.width != config.width) info.warnings.push_back(widened("width", config.width));
    if (info.height != config.height) info.warnings.push_back(widened("height", config.height));
    if (!level.holds) {
      info.warnings.push_back(
          "no level of H.264 holds " + size_text(config.width, config.height) +
          " at this frame rate: level 6.2 is written, and decoders may refuse the stream");
    }
    headers = encoder::stream_headers(config, level.level_idc, true);
    parameter_sets = encoder::stream_headers(config, level.level_idc, false);
    encoder::StageParams params = encoder::stage_params(config);
    params.entropy_kernel = entropy_kernel;
    if (params.marks) {
      mark_message = params.marks->message();
      mark_check.emplace(config.watermark->key, parameter_sets, *params.marks);
    }
    encoder::OpenedBackend opened = encoder::open_backend(config, params);
    backend = std::move(opened.backend);
    info.backend = opened.name;
    if (params.cipher) cipher_message = params.cipher->message();
    info.backend_reason = opened.reason;
    info.batch = opened.batch;
    format = config.input_format;
  }

  // The headers before the picture's slices, or null.
  const std::vector<std::uint8_t>* headers_of(std::uint64_t index) const {
    if (config.headers == HeaderPlacement::separate) return nullptr;
    if (index == 0) return &headers;
    return config.headers == HeaderPlacement::every_packet ? &parameter_sets : nullptr;
  }

  Packet next_packet() {
    encoder::CodedAccessUnit unit = backend->collect();
    Packet packet;
    packet.data = std::move(unit.slices);
    packet.device_data = unit.device_slices;
    packet.index = received;
    packet.pts = pending.front().pts;
    packet.user_data = pending.front().user_data;
    packet.stats = unit.stats;
    packet.reconstruction = std::move(unit.reconstruction);
    // The check works on encrypted packets too, because encryption does not move what carries marks.
    if (mark_check) {
      if (received == 0) packet.data.insert(packet.data.begin(), mark_message.begin(), mark_message.end());
      mark_check->picture(packet.data);
      if (flushed && pending.size() == 1) mark_check->finish();
    }
    if (received == 0 && !cipher_message.empty()) {
      const auto behind = packet.data.begin() + static_cast<std::ptrdiff_t>(mark_message.size());
      packet.data.insert(behind, cipher_message.begin(), cipher_message.end());
    }
    if (const auto* before = headers_of(received)) {
      packet.data.insert(packet.data.begin(), before->begin(), before->end());
    }
    pending.pop_front();
    ++received;
    return packet;
  }

  bool full() const { return pending.size() >= static_cast<std::size_t>(backend->capacity()); }

  Config config;
  EncoderInfo info;
  std::vector<std::uint8_t> headers;
  std::vector<std::uint8_t> parameter_sets;
  std::vector<std::uint8_t> cipher_message;  // before the first slice
  std::vector<std::uint8_t> mark_message;    // of the watermark, before the first slice
  std::optional<protect::MarkCheck> mark_check;
  std::unique_ptr<encoder::Backend> backend;
  std::deque<Pending> pending;        // sent and not yet received
  std::optional<PixelFormat> format;  // of the frames, once it is known
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  bool flushed = false;
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
  return impl_->headers;
}

bool Encoder::send(const Frame& frame) {
  if (impl_->flushed) {
    throw Error(ErrorCode::invalid_argument, "a frame was sent after flush", "open another encoder");
  }
  const bool draws_keystream = impl_->config.encryption || impl_->config.watermark;
  if (draws_keystream && impl_->sent > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(ErrorCode::invalid_argument, "more than 4294967296 pictures were sent",
                "their keystream would repeat: open another encoder");
  }
  encoder::check_frame(frame, impl_->config, impl_->format, impl_->info.backend == "cuda", impl_->sent);
  if (impl_->full()) return false;
  impl_->format = frame.format;
  impl_->backend->submit(frame, encoder::picture_params(impl_->config, impl_->sent));
  impl_->pending.push_back({frame.pts, frame.user_data});
  ++impl_->sent;
  return true;
}

std::optional<Packet> Encoder::receive() {
  if (impl_->pending.empty()) return std::nullopt;
  if (!impl_->full() && !impl_->flushed && !impl_->backend->ready()) return std::nullopt;
  return impl_->next_packet();
}

void Encoder::flush() {
  if (impl_->flushed) return;
  impl_->flushed = true;
  impl_->backend->flush();
}

namespace encoder {

Encoder EncoderAccess::open(const Config& config, const entropy::EntropyKernel* entropy_kernel) {
  return Encoder(std::make_unique<Encoder::Impl>(config, entropy_kernel));
}

}  // namespace encoder

}  // namespace cu264
