#include "encoder_session.h"

#include <chrono>
#include <thread>
#include <utility>

namespace cu264::python {

Config config_of(const StreamFormat& format) {
  Config config;
  for (const auto& [name, value] : format.options) config.set(name, value);
  config.time_base = format.time_base;
  config.colour.primaries = format.colour.primaries;
  config.colour.transfer = format.colour.transfer;
  config.colour.matrix = format.colour.matrix;
  return config;
}

EncoderSession::EncoderSession(const StreamFormat& format)
    : encoder_([&] {
        const nb::gil_scoped_release released;
        return Encoder(config_of(format));
      }()) {}

void EncoderSession::send(nb::object object, const std::vector<std::int64_t>& pts) {
  const FrameArray& frames = nb::cast<const FrameArray&>(object);
  held_.push_back({sent_ + pts.size(), object});
  {
    const nb::gil_scoped_release released;
    for (std::size_t i = 0; i < pts.size(); ++i) {
      Frame frame = frames.frame(static_cast<std::int64_t>(i));
      frame.pts = pts[i];
      while (!encoder_.send(frame)) receive(*encoder_.receive());
      ++sent_;
      // What is ready is fetched now, so that the device does not wait for room.
      while (auto packet = encoder_.receive()) receive(std::move(*packet));
    }
  }
  release_frames();
}

void EncoderSession::wait_for_full_batches() {
  {
    const nb::gil_scoped_release released;
    const std::uint64_t full = sent_ - sent_ % static_cast<std::uint64_t>(info().batch);
    while (received_ < full) {
      if (auto packet = encoder_.receive()) {
        receive(std::move(*packet));
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    }
  }
  release_frames();
}

void EncoderSession::flush() {
  {
    const nb::gil_scoped_release released;
    encoder_.flush();
    while (auto packet = encoder_.receive()) receive(std::move(*packet));
  }
  release_frames();
}

std::vector<Packet> EncoderSession::take() {
  return std::exchange(packets_, {});
}

void EncoderSession::write_to(nb::object file, std::int64_t duration) {
  mp4_ = &nb::cast<Mp4File&>(file);
  file_ = std::move(file), duration_ = duration;
}

void EncoderSession::receive(Packet packet) {
  if (mp4_ != nullptr) {
    mp4_->writer().write(packet.data, packet.pts, duration_);
  } else {
    packets_.push_back(std::move(packet));
  }
  ++received_;
}

// The encoder has read a frame for the last time when its packet has come.
void EncoderSession::release_frames() {
  while (!held_.empty() && held_.front().end <= received_) held_.pop_front();
}

}  // namespace cu264::python
