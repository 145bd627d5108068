// The session: checks what comes in, keeps the order, puts the headers where they belong. The backend does
// the rest.
#include "cu264/encoder.h"

#include <deque>
#include <string>
#include <utility>

#include "core/block.h"
#include "encoder/config.h"
#include "encoder/headers.h"
#include "encoder/level.h"
#include "encoder/stages.h"

namespace cu264 {
namespace {

encoder::StageParams stage_params(const Config& config) {
  encoder::StageParams params;
  params.width = config.width;
  params.height = config.height;
  params.coded_width = encoder::coded_side(config.width);
  params.coded_height = encoder::coded_side(config.height);
  params.mb_width = encoder::macroblocks(config.width);
  params.mb_height = encoder::macroblocks(config.height);
  params.qp = config.qp;
  params.preset = config.preset;
  params.slices = config.slices;
  params.deblock = config.deblock;
  params.reconstruction = config.reconstruction;
  params.threads = config.threads;
  for (int slice = 0; slice < config.slices; ++slice) {
    const int first_mb = core::slice_first_row(slice, config.slices, params.mb_height) * params.mb_width;
    for (int idr_pic_id = 0; idr_pic_id < 2; ++idr_pic_id) {
      params.slice_headers.push_back(encoder::slice_header(first_mb, idr_pic_id, config.qp, config.deblock));
    }
  }
  return params;
}

std::string widened(const char* side, int samples) {
  return std::string(side) + " " + std::to_string(samples) + " is coded as " +
         std::to_string(encoder::coded_side(samples)) + ", one replicated sample";
}

std::string size_text(int width, int height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

std::unique_ptr<encoder::Backend> open_backend(const Config& config, EncoderInfo& info) {
  if (config.backend == BackendChoice::cuda) {
    throw Error(ErrorCode::device_unavailable, "this build has no CUDA backend",
                "use the cpu backend, or build with CUDA");
  }
  info.backend = "cpu";
  info.backend_reason = config.backend == BackendChoice::cpu ? "asked for" : "this build has no CUDA backend";
  return encoder::open_cpu_backend(stage_params(config));
}

int plane_count(PixelFormat format) {
  switch (format) {
    case PixelFormat::i420:
      return 3;
    case PixelFormat::nv12:
      return 2;
    case PixelFormat::gray8:
      return 1;
  }
  throw Error(ErrorCode::invalid_argument, "unknown pixel format", "use i420, nv12 or gray8");
}

// Bytes of a row that will be read.
std::ptrdiff_t row_bytes(const Frame& frame, int plane) {
  if (plane == 0) return frame.width;
  const int chroma_width = (frame.width + 1) / 2;
  return frame.format == PixelFormat::nv12 ? 2 * chroma_width : chroma_width;
}

void check_frame(const Frame& frame, const Config& config, std::uint64_t index) {
  const auto named = [&] { return "frame " + std::to_string(index); };
  if (frame.memory != MemoryKind::host) {
    throw Error(ErrorCode::unsupported, named() + " lies in device memory, which the cpu backend cannot read",
                "copy it to the host, or use the cuda backend");
  }
  if (frame.width != config.width || frame.height != config.height) {
    throw Error(ErrorCode::bad_input,
                named() + " is " + size_text(frame.width, frame.height) +
                    ", but the encoder was opened for " + size_text(config.width, config.height),
                "scale the frame, or open another encoder");
  }
  for (int plane = 0; plane < plane_count(frame.format); ++plane) {
    const std::string where = named() + ", plane " + std::to_string(plane);
    if (frame.plane[plane] == nullptr) {
      throw Error(ErrorCode::invalid_argument, where + ": no samples", "set Frame::plane");
    }
    const std::ptrdiff_t pitch = frame.pitch[plane];
    const std::ptrdiff_t bytes = row_bytes(frame, plane);
    if (pitch < bytes && -pitch < bytes) {
      throw Error(ErrorCode::invalid_argument,
                  where + ": pitch " + std::to_string(pitch) + " is less than the row's " +
                      std::to_string(bytes) + " bytes",
                  "set Frame::pitch");
    }
  }
}

}  // namespace

struct Encoder::Impl {
  struct Pending {
    std::int64_t pts = 0;
    void* user_data = nullptr;
  };

  explicit Impl(const Config& c) : config(c) {
    encoder::validate(config);
    const int mb_width = encoder::macroblocks(config.width);
    const int mb_height = encoder::macroblocks(config.height);
    const encoder::LevelChoice level = encoder::choose_level(mb_width, mb_height, config.frame_rate);
    info.width = encoder::coded_side(config.width);
    info.height = encoder::coded_side(config.height);
    info.level_idc = level.level_idc;
    if (info.width != config.width) info.warnings.push_back(widened("width", config.width));
    if (info.height != config.height) info.warnings.push_back(widened("height", config.height));
    if (!level.holds) {
      info.warnings.push_back(
          "no level of H.264 holds " + size_text(config.width, config.height) +
          " at this frame rate: level 6.2 is written, and decoders may refuse the stream");
    }
    headers = encoder::stream_headers(config, level.level_idc, true);
    parameter_sets = encoder::stream_headers(config, level.level_idc, false);
    backend = open_backend(config, info);
  }

  // What goes before the picture's slices, if anything.
  const std::vector<std::uint8_t>* headers_of(std::uint64_t index) const {
    if (config.headers == HeaderPlacement::separate) return nullptr;
    if (index == 0) return &headers;
    return config.headers == HeaderPlacement::every_packet ? &parameter_sets : nullptr;
  }

  Packet next_packet() {
    encoder::CodedAccessUnit unit = backend->collect();
    Packet packet;
    packet.data = std::move(unit.slices);
    packet.index = received;
    packet.pts = pending.front().pts;
    packet.user_data = pending.front().user_data;
    packet.stats = unit.stats;
    packet.reconstruction = std::move(unit.reconstruction);
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
  std::unique_ptr<encoder::Backend> backend;
  std::deque<Pending> pending;  // sent and not yet received
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  bool flushed = false;
};

Encoder::Encoder(const Config& config) : impl_(std::make_unique<Impl>(config)) {}
Encoder::~Encoder() = default;
Encoder::Encoder(Encoder&&) noexcept = default;
Encoder& Encoder::operator=(Encoder&&) noexcept = default;

const EncoderInfo& Encoder::info() const noexcept {
  return impl_->info;
}

const std::vector<std::uint8_t>& Encoder::headers() const noexcept {
  return impl_->headers;
}

bool Encoder::send(const Frame& frame) {
  if (impl_->flushed) {
    throw Error(ErrorCode::invalid_argument, "a frame was sent after flush", "open another encoder");
  }
  check_frame(frame, impl_->config, impl_->sent);
  if (impl_->full()) return false;
  impl_->backend->submit(frame, impl_->sent);
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

}  // namespace cu264
