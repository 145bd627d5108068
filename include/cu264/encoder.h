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
// The next frame that is sent begins another clip: with headers again, packets counted from 0 and, byte for
// byte, as another encoder would code it. To reuse an encoder costs nothing.
//
// Threads: an Encoder must be used by one thread at a time; any number of encoders may run at once. All that
// they share is a cache of memory (release_cached_memory). Every call restores the thread's CUDA context.
//
// Errors: every call may throw cu264::Error. After a throw from send, receive or flush the encoder can only
// be destroyed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cu264/backend_choice.h"
#include "cu264/canny.h"
#include "cu264/config_option.h"
#include "cu264/frame.h"
#include "cu264/packet.h"
#include "cu264/protect.h"
#include "cu264/scaling_lists.h"
#include "cu264/status.h"

namespace cu264 {

struct Rational {
  int num = 0;
  int den = 1;
};

// The effort of the search for modes and levels. Each preset gives the same bytes on every backend.
enum class Preset {
  fast,      // SATD + mode bits
  balanced,  // the best three candidates by SATD, decided by squared error + lambda x exact bits
  best,      // that cost for every candidate, and rate-distortion-optimised quantisation
};

// Says what decoders must be able to do. All profiles are 4:2:0 and 8 bits.
enum class Profile {
  automatic,  // high, with CAVLC where something in Config needs it: EncoderInfo says what was chosen
  baseline,   // Constrained Baseline: CAVLC, the 4x4 transform; encoded fastest
  main,       // CABAC, which takes fewer bits, unless Config::cavlc is set
  high,       // the 8x8 transform as well
};

enum class HeaderPlacement {
  first_packet,  // SPS, PPS and SEI before the first picture
  every_packet,  // SPS and PPS before each key picture: any of them is an entry point of the stream
  separate,      // only in Encoder::headers()
};

// Code points of ITU-T H.273, where 2 is "unspecified".
struct Colour {
  int primaries = 2;
  int transfer = 2;
  int matrix = 2;
  bool full_range = false;
};

// Adaptive quantisation gives each macroblock an offset to Config::qp; the offsets have a mean of zero.
enum class AdaptiveQuantisation {
  automatic,  // variance where `crf` or `bitrate` is set and edge_guided is not, otherwise off
  off,
  variance,  // macroblocks of low variance get more bits
  steps,     // those with steps of brightness, above all weak ones, which a cheap measure counts
  edges,     // those with edges of a GUD-Canny map, above all weak ones: what edge_guided asks for
};

// What codes CAVLC's levels and packs its slices on the GPU. The bytes are always the same, and the cpu
// backend has one way of each.
enum class EntropyCoder {
  production,
  cavlcu,  // the kernels of the paper CAVLCU; slices are then coded with CAVLC, whatever the profile
};
enum class Packing {
  production,
  gvle,  // the steps of the paper GVLE, which pack CAVLC too
};

// Says what becomes of a picture that no QP makes as small as a limit asks.
enum class OnOverflow {
  error,  // receive() throws Error(encode_failure); the packets before it are complete
  drop,   // the picture has no packet, and is counted
};

inline constexpr int kMaxGop = 100000;         // of Config::gop
inline constexpr int kKeyPictureQpOffset = 3;  // of Config::qp, where there are P pictures

inline constexpr int kMaxEdgeGuided = 3;  // of Config::edge_guided and aq_strength

inline constexpr int kMaxChromaLocation = 5;  // of Config::chroma_location

inline constexpr int kDefaultLookahead = 40, kMaxLookahead = 250;  // of Config::lookahead

inline constexpr int kMaxSide = 8192;  // largest width and height of a picture to encode, in luma samples

struct Config {
  // Luma samples, 1..kMaxSide. An odd side is coded one replicated sample wider, because the crop rectangle
  // of 4:2:0 counts in pairs (H.264 7.4.2.1.1): see EncoderInfo::width.
  int width = 0;
  int height = 0;
  int qp = 27;  // 0..51, unless one of the following says otherwise
  // Constant quality on x264's scale, 0..51: the QP of each picture follows from its complexity.
  std::optional<double> crf;
  // Bits a second of the stream, headers included; 0: no target. With a buffer (HRD, H.264 annex C) of
  // buffer_bits, which fills with max_bitrate; 0: one second (two pictures if each lasts a second or more),
  // and `bitrate`.
  std::int64_t bitrate = 0;
  std::int64_t max_bitrate = 0;
  std::int64_t buffer_bits = 0;
  bool cbr = false;  // filler data keep the buffer from overflowing: max_bitrate is then `bitrate`
  // For variable frame rates: the seconds of `bitrate` are what Frame::duration adds up to, instead of
  // frame_rate's pictures. Such a stream has no buffer, so max_bitrate, buffer_bits and cbr stay unset.
  bool timed_bitrate = false;
  // How many pictures after each one a bitrate looks at, 0..kMaxLookahead; not set: kDefaultLookahead. So
  // many frames more are held, and a packet comes so many frames later, whatever `batch` is: 0 for live
  // streams.
  std::optional<int> lookahead;
  // Bytes of an access unit with its headers and start codes; 0: no limit. frame_bytes: each is exactly so
  // large, by filler data.
  std::int64_t max_frame_bytes = 0;
  std::int64_t frame_bytes = 0;
  OnOverflow on_overflow = OnOverflow::error;  // drop cannot go with encryption or a watermark
  Preset preset = Preset::balanced;
  Profile profile = Profile::automatic;
  // CAVLC in profiles that allow CABAC. Watermarks and encryption work on CAVLC only: the profile automatic
  // then has it, and main and high must be told.
  bool cavlc = false;
  EntropyCoder entropy = EntropyCoder::production;
  Packing packing = Packing::production;
  ScalingLists scaling_lists;  // flat, unless the profile is high
  // Pictures from one key picture to the next, 0..kMaxGop; 0: key pictures come first and where Frame::key
  // asks for one. 1: every picture is a key picture, coded and decoded by itself. Others are P pictures,
  // which are predicted from the picture before: they take far fewer bits. `qp` is theirs, and key pictures
  // have kKeyPictureQpOffset less.
  int gop = 1;
  bool scene_cuts = false;  // the first picture of a scene begins a GOP, unless `gop` is 1
  int slices = 1;           // slices in a picture, at most one for each macroblock row
  // Adaptive quantisation: which macroblocks get more bits. edge_guided 1..3 is `aq` edges with that
  // strength; 0: `aq` alone decides. aq_strength 1..3 is the strength of `aq` edges and steps; 0: the usual
  // 2. Offsets depend on those of the picture before, so that they do not flicker.
  int edge_guided = 0;
  AdaptiveQuantisation aq = AdaptiveQuantisation::automatic;
  int aq_strength = 0;
  canny::Params edge_detector;  // that finds the edges of edge_guided
  bool edge_maps = false;       // fill Packet::edges; edge_guided only
  bool deblock = true;          // whether the decoder applies the loop filter (and the reconstruction has it)
  Rational frame_rate{25, 1};   // for the level and the VUI
  Rational time_base{0, 1};     // of Frame::pts and duration; 0: 1 / frame_rate
  bool fixed_frame_rate = true;        // written to the VUI; false for a variable frame rate
  Rational sample_aspect_ratio{0, 1};  // 0: unspecified
  Colour colour;
  int chroma_location = -1;  // chroma_sample_loc_type of H.264 figure E-1, 0..5; -1: not said
  // 10 x the level that the stream must keep to by its size and macroblock rate; 9: level 1b; 0: the lowest.
  // EncoderInfo::level_bit_rate says what it allows of bits, which a constant QP does not know beforehand.
  int level_idc = 0;
  HeaderPlacement headers = HeaderPlacement::first_packet;
  bool reconstruction = false;  // fill Packet::reconstruction
  // The format of all frames. If it is not set, the first frame determines it, which must be i420, nv12 or
  // gray8. An RGB format must be set here, since the stream's headers tell how it was converted: by
  // colour.matrix (1, 5 or 6; unspecified becomes BT.709 from 720 lines on and BT.601 below) and
  // colour.full_range. Chroma is the mean of 2x2 samples, and the headers give its position.
  std::optional<PixelFormat> input_format;
  std::optional<EncoderEncryption> encryption;
  // If the video is too short for the payload, receive() throws Error(bad_input) after flush(), once all
  // packets have been handed out, instead of returning no packet.
  std::optional<EncoderWatermark> watermark;
  BackendChoice backend = BackendChoice::automatic;
  int threads = 0;  // of the cpu backend; 0: one for each core. The bytes do not depend on it
  // These are for the cuda backend, and the bytes do not depend on them.
  int batch = 0;               // pictures encoded together; 0: as many as fill the device; 1: lowest latency
  std::vector<int> devices;    // devices that take batches in turn; empty: device 0
  bool device_output = false;  // packets stay on the device: Packet::device_data

  // Sets the field that an option of config_options() names to a value given as text, as the command line
  // does. "pipeline" sets three: entropy, packing and, if it is 0, edge_guided. Throws an
  // Error(invalid_argument) that lists the accepted values.
  void set(std::string_view name, std::string_view text);

  // Returns an option's value as set() takes it; empty if it is not set, or has no text, as scaling lists and
  // edge detectors of one's own. Throws Error(invalid_argument) for an unknown name.
  std::string text(std::string_view name) const;
};

struct EncoderInfo {
  std::string backend;         // "cpu" or "cuda"
  std::string backend_reason;  // why this backend was chosen, in a few words
  std::string profile;         // of the stream: "baseline", "main" or "high"
  bool cabac = false;          // whether slices are coded with CABAC
  std::string profile_reason;  // why profile and entropy coder are these, in a few words
  int width = 0;  // of the decoded picture: Config's width and height, rounded up to even numbers
  int height = 0;
  int batch = 1;               // pictures encoded together
  std::uint64_t dropped = 0;   // pictures of the clip that Config::on_overflow left out so far
  bool controls_rate = false;  // the encoder chooses QPs
  bool limits_pictures =
      false;          // sizes have a bitrate, a buffer or a limit, which pictures may exceed at every QP
  int level_idc = 0;  // 10 x the level; 9 is level 1b
  std::int64_t level_bit_rate = 0;  // the bits a second that the level allows; 0 if no level holds the stream
  std::vector<std::string> warnings;  // one line each: widened sides, a level that no table holds
};

struct MemoryRequirement {
  std::size_t device = 0;  // bytes, on each device
  std::size_t pinned = 0;  // bytes of page-locked host memory, for each device
  int batch = 0;           // pictures
};

// Lists what Encoder::reconfigure changes. Members that are not set stay as they are.
struct ConfigChanges {
  // From the next frame on. Within a clip they change what is set already: a crf cannot become a bitrate, and
  // a limit or a buffer cannot come or go.
  std::optional<int> qp;
  std::optional<double> crf;
  std::optional<std::int64_t> bitrate, max_bitrate, buffer_bits, max_frame_bytes;
  // From the next clip on: only before the first frame, or after flush and the last packet. The memory of the
  // encoder is kept where it suffices.
  std::optional<int> width, height;
  std::optional<Preset> preset;
  std::optional<Rational> frame_rate;

  // Sets the change of an option of config_options(), as Config::set does. Throws Error(invalid_argument) for
  // one whose ConfigOption::change is never, too.
  void set(std::string_view name, std::string_view text);
};

// Returns what the cuda backend allocates when it opens, with the first frame in host memory, and for frames
// that rate control holds. With Config::batch 0 or edge_guided this asks the devices, as opening does;
// otherwise no device is needed.
MemoryRequirement memory_required(const Config& config);

// Memory of encoders that were destroyed is kept for those that are opened next: of each device up to a
// quarter of its memory and 8 GiB, of page-locked memory up to 512 MiB. This gives all of it back. It also
// happens when an encoder cannot have the memory it needs. Call it before cudaDeviceReset.
void release_cached_memory();

namespace encoder {
struct EncoderAccess;  // not part of the API
}

class Encoder {
 public:
  // Opens the backend. The result is a working encoder, or an Error that tells why there is none.
  explicit Encoder(const Config& config);
  ~Encoder();
  Encoder(Encoder&&) noexcept;
  Encoder& operator=(Encoder&&) noexcept;
  // Every call below throws Error(invalid_argument) for an encoder that was moved from.

  // Like headers(), it may be different after reconfigure.
  const EncoderInfo& info() const;

  // SPS, PPS and the SEI message that names the encoder, in Annex B form.
  const std::vector<std::uint8_t>& headers() const;

  // Takes a picture and returns true. Returns false if the pipeline is full, or if packets are left from
  // before flush() or drain(); receive() then has a packet.
  // Host memory of the frame may be reused once send has returned true, pinned and device memory once the
  // frame's packet was received.
  bool send(const Frame& frame);

  // The next packet, in the order of the frames sent. Waits for it if the pipeline is full, or was flushed or
  // drained; otherwise returns a packet only if one is ready. No packet means that more frames are needed or,
  // after flush() or drain(), that all packets have been handed out. With OnOverflow::drop the pictures that
  // were waited for may all have been left out; there may be room for frames then, although there is no
  // packet.
  std::optional<Packet> receive();

  // The next packet. Sleeps until it is ready or the time has passed; with a timeout of 0 it never waits.
  // Returns at once if no packet can come without another call, because no frame is on its way or the frames
  // sent do not fill a batch yet.
  std::optional<Packet> receive(std::chrono::nanoseconds timeout);

  // A descriptor for poll and event loops, which the encoder owns. It becomes readable when a packet may be
  // ready; then call receive(timeout) until it returns none, which makes it unreadable again.
  int ready_descriptor();

  // Announces that no more frames of this clip will come.
  void flush();

  // Announces that no more frames will come before the packets of all that were sent have been received, for
  // which receive() then waits as after flush(). The clip goes on with the next frame, and its bytes are the
  // same as without this call, unless Config::lookahead is used: the last pictures before it look at fewer.
  void drain();

  // Throws Error(invalid_argument) for values out of range, and for changes within a clip that only the next
  // one can have; nothing has changed then, and the encoder goes on.
  void reconfigure(const ConfigChanges& changes);

 private:
  friend struct encoder::EncoderAccess;
  struct Impl;
  explicit Encoder(std::unique_ptr<Impl> impl) noexcept;

  // A pointer that throws instead of being null where it is used.
  struct ImplPointer {
    Impl* operator->() const {
      if (owned) return owned.get();
      throw Error(ErrorCode::invalid_argument, "this encoder was moved from",
                  "use the one that it was moved to");
    }
    std::unique_ptr<Impl> owned;
  };
  ImplPointer impl_;
};

}  // namespace cu264
