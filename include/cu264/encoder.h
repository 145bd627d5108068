// The encoder: frames in, H.264 access units out.
//
//   cu264::Config config;
//   config.width = 1920, config.height = 1080;
//   cu264::Encoder encoder(config);
//   for (const cu264::Frame& frame : frames) {
//     while (!encoder.send(frame)) write(*encoder.receive());  // full: take a packet first
//   }
//   encoder.flush();
//   while (auto packet = encoder.receive()) write(*packet);
//
// Threads: an Encoder is used by one thread at a time; any number of encoders may run at once. No globals.
// Errors: every call may throw cu264::Error; after a throw from send, receive or flush the encoder can only
// be destroyed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cu264/frame.h"
#include "cu264/packet.h"
#include "cu264/protect.h"
#include "cu264/status.h"

namespace cu264 {

struct Rational {
  int num = 0;
  int den = 1;
};

// How hard modes and levels are searched for; every preset gives the same picture on every backend.
enum class Preset {
  fast,      // SATD + mode bits
  balanced,  // the best three candidates by SATD, decided by squared error + lambda x exact bits
  best,      // that cost for every candidate, and rate-distortion-optimised quantisation
};

enum class Profile { baseline };  // Constrained Baseline: 4:2:0, 8 bits, CAVLC, 4x4 transform

enum class BackendChoice { automatic, cuda, cpu };

enum class HeaderPlacement {
  first_packet,  // SPS, PPS and SEI before the first picture
  every_packet,  // SPS and PPS before each picture: any picture is an entry point of the stream
  separate,      // only in Encoder::headers()
};

// Code points of ITU-T H.273; 2 is "unspecified".
struct Colour {
  int primaries = 2;
  int transfer = 2;
  int matrix = 2;
  bool full_range = false;
};

// Quantisation by macroblock, offsets with a mean of zero around Config::qp. One of the two, not both.
enum class AdaptiveQuantisation { off, variance };
inline constexpr int kStrongestEdgeGuide = 3;

inline constexpr int kMaxSide = 8192;  // of a picture, in luma samples

struct Config {
  int width =
      0;  // luma samples, 1..kMaxSide. An odd side is coded one replicated sample wider, because the crop
  int height = 0;  // rectangle of 4:2:0 counts in pairs (H.264 7.4.2.1.1): see EncoderInfo::width
  int qp = 27;     // 0..51
  Preset preset = Preset::balanced;
  Profile profile = Profile::baseline;
  int slices = 1;  // a picture; at most one a macroblock row
  // Where bits go inside a picture. edge_guided 1..3: to edges, the weak above all; 0: off. `aq` variance: to
  // macroblocks of low variance. The guide remembers the offsets of the picture before, so as not to flicker.
  int edge_guided = 0;
  AdaptiveQuantisation aq = AdaptiveQuantisation::off;
  bool deblock = true;           // the loop filter, which runs in the decoder (and in the reconstruction)
  Rational frame_rate{25, 1};    // for the level and the VUI
  Rational time_base{0, 1};      // of Frame::pts; 0: 1 / frame_rate
  bool fixed_frame_rate = true;  // said in the VUI; false for variable frame rate
  Rational sample_aspect_ratio{0, 1};  // 0: unspecified
  Colour colour;
  HeaderPlacement headers = HeaderPlacement::first_packet;
  bool reconstruction = false;  // fill Packet::reconstruction
  // What frames will be. Nothing: the first frame says it, one of i420, nv12 and gray8. An RGB format must be
  // named, since the stream's headers tell how it was converted: by colour.matrix (1, 5 or 6; unspecified
  // becomes BT.709 from 720 lines on and BT.601 below) and colour.full_range. Chroma is the mean of 2x2
  // samples, and is tagged so.
  std::optional<PixelFormat> input_format;
  std::optional<EncoderEncryption> encryption;
  // Error(bad_input), from receive() of the last packet: the video is too short for the payload.
  std::optional<EncoderWatermark> watermark;
  BackendChoice backend = BackendChoice::automatic;
  int threads = 0;  // of the CPU backend; 0: one a core. Never changes the bytes
  // Of the CUDA backend, none of which changes the bytes:
  int batch = 0;               // pictures encoded together; 0: what fills the device; 1: lowest latency
  std::vector<int> devices;    // that take batches in turn; empty: device 0
  bool device_output = false;  // packets stay on the device: Packet::device_data

  // Sets a field by the name of one of config_options() and its value as text, as the command line does.
  // Throws Error(invalid_argument) that lists what is accepted.
  void set(std::string_view name, std::string_view text);
};

// An option that Config::set takes, described for a help text.
struct ConfigOption {
  enum class Group { coding, machine, input, output };

  const char* name;
  const char* value;    // a placeholder for it, as "N"
  const char* meaning;  // the default is in parentheses
  Group group;
  const char* implicit_value = nullptr;  // what the name stands for without a value, if it may
};

std::vector<ConfigOption> config_options();

struct EncoderInfo {
  std::string backend;         // "cpu" or "cuda"
  std::string backend_reason;  // why, in a few words
  int width = 0;               // of the decoded picture: Config's, each side rounded up to even
  int height = 0;
  int batch = 1;                      // pictures encoded together
  int level_idc = 0;                  // 10 x the level; 9 is level 1b
  std::vector<std::string> warnings;  // one line each: widened sides, a level that no table holds
};

struct MemoryRequirement {
  std::size_t device = 0;  // bytes, on each device
  std::size_t pinned = 0;  // bytes of page-locked host memory, for each device
  int batch = 0;           // pictures
};

// What the CUDA backend would allocate at open, and never more after it. With Config::batch 0 the devices are
// asked, as open would; otherwise no device is needed.
MemoryRequirement memory_required(const Config& config);

namespace encoder {
struct EncoderAccess;  // not part of the API
}

class Encoder {
 public:
  // Really opens the backend: a working encoder, or an Error that says why not.
  explicit Encoder(const Config& config);
  ~Encoder();
  Encoder(Encoder&&) noexcept;
  Encoder& operator=(Encoder&&) noexcept;

  const EncoderInfo& info() const noexcept;

  // SPS, PPS and the SEI message that names the encoder, in Annex B form.
  const std::vector<std::uint8_t>& headers() const noexcept;

  // Takes a picture, or returns false if the pipeline is full: receive() then has a packet. The frame's
  // memory may be reused once send has returned true; pinned and device memory once its packet was received.
  bool send(const Frame& frame);

  // The next packet, in the order sent. Waits for it if the pipeline is full or was flushed; otherwise
  // returns what is ready. Nothing: more frames are needed or, after flush(), all packets have been handed
  // out.
  std::optional<Packet> receive();

  // No more frames will come.
  void flush();

 private:
  friend struct encoder::EncoderAccess;
  struct Impl;
  explicit Encoder(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cu264
