#include "encoder_session.h"

#include <chrono>
#include <utility>

namespace cu264::python {

void set_options(Config& config, Options options) {
  for (const ConfigOption& option : config_options()) {
    if (const auto given = options.find(option.name); given != options.end()) {
      config.set(option.name, given->second);
      options.erase(given);
    }
  }
  for (const auto& [name, value] : options) config.set(name, value);  // throws: they are not known
}

Config config_of(const StreamFormat& format) {
  Config config;
  set_options(config, format.options);
  config.time_base = format.time_base;
  config.encryption = format.encryption;
  config.watermark = format.watermark;
  config.fixed_frame_rate = !config.timed_bitrate;
  return config;
}

ConfigChanges changes_of(const Options& options) {
  ConfigChanges changes;
  for (const auto& [name, value] : options) changes.set(name, value);
  return changes;
}

EncoderSession::EncoderSession(const StreamFormat& format)
    : encoder_([&] {
        const ReleasedGil released;
        return std::make_unique<Encoder>(config_of(format));
      }()) {}

void EncoderSession::send(nb::object object, const std::vector<std::int64_t>& pts,
                          const std::vector<std::optional<int>>& qps, const Durations& durations,
                          const std::vector<bool>& keys) {
  const FrameArray& frames = nb::cast<const FrameArray&>(object);
  if (ended_) receive_rest();  // so that pictures are counted clip by clip
  held_.push_back({sent_ + pts.size(), object});
  try {
    send_all(frames, pts, qps, durations, keys);
  } catch (...) {
    held_.back().end = sent_;  // the others are not read any more
    throw;
  }
  release_frames();
}

void EncoderSession::send_all(const FrameArray& frames, const std::vector<std::int64_t>& pts,
                              const std::vector<std::optional<int>>& qps, const Durations& durations,
                              const std::vector<bool>& keys) {
  ReleasedGil released;
  for (std::size_t i = 0; i < pts.size(); ++i) {
    Frame frame = frames.frame(static_cast<std::int64_t>(i));
    frame.pts = pts[i];
    if (!qps.empty()) frame.qp = qps[i];
    if (!durations.empty()) frame.duration = durations[i];
    if (!keys.empty()) frame.key = keys[i];
    while (!encoder_->send(frame)) {
      if (auto packet = encoder_->receive()) receive(std::move(*packet));
      released.let_signals_in([this] { report(); });
    }
    ++sent_;
    // Packets that are ready are fetched now, so that the device does not wait for room.
    while (auto packet = encoder_->receive()) receive(std::move(*packet));
    released.let_signals_in([this] { report(); });
  }
}

std::size_t EncoderSession::send_without_waiting(nb::object object, const std::vector<std::int64_t>& pts,
                                                 std::size_t first) {
  const FrameArray& frames = nb::cast<const FrameArray&>(object);
  if (first == 0) held_.push_back({sent_ + pts.size(), object});
  const ReleasedGil released;
  for (; first < pts.size(); ++first) {
    Frame frame = frames.frame(static_cast<std::int64_t>(first));
    frame.pts = pts[first];
    if (!encoder_->send(frame)) break;
    ++sent_;
  }
  return first;
}

void EncoderSession::receive_ready() {
  {
    const ReleasedGil released;
    while (auto packet = encoder_->receive(std::chrono::nanoseconds(0))) receive(std::move(*packet));
  }
  release_frames();
}

void EncoderSession::wait_for_full_batches() {
  {
    ReleasedGil released;
    const std::uint64_t full = sent_ - sent_ % static_cast<std::uint64_t>(info().batch);
    constexpr std::chrono::seconds kWait(1);
    while (settled() < full) {
      released.let_signals_in();
      const auto begin = std::chrono::steady_clock::now();
      if (auto packet = encoder_->receive(kWait)) {
        receive(std::move(*packet));
      } else if (std::chrono::steady_clock::now() - begin < kWait) {
        break;  // rate control wants more frames
      }
    }
  }
  release_frames();
}

void EncoderSession::end_clip() {
  ended_ = true;
  const ReleasedGil released;
  encoder_->flush();
}

void EncoderSession::flush() {
  end_clip();
  receive_rest();
}

void EncoderSession::receive_rest() {
  {
    ReleasedGil released;
    while (auto packet = encoder_->receive()) {
      receive(std::move(*packet));
      released.let_signals_in([this] { report(); });
    }
  }
  release_frames();
}

void EncoderSession::reconfigure(const Options& options) {
  const ConfigChanges changes = changes_of(options);
  const ReleasedGil released;
  encoder_->reconfigure(changes);
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
  ++received_, ++coded_;
}

void EncoderSession::report() {
  if (!progress_.is_none()) progress_(coded_);
}

// The encoder has read a frame for the last time when its packet has come.
void EncoderSession::release_frames() {
  std::vector<nb::object> done;  // their ends may run code that comes back here
  for (; !held_.empty() && held_.front().end <= settled(); held_.pop_front()) {
    done.push_back(std::move(held_.front().frames));
  }
  if (ended_ && settled() == sent_)
    sent_ = received_ = 0, ended_ = false;  // batches of the next clip begin anew
}

}  // namespace cu264::python
