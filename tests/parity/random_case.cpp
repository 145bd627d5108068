#include "tests/parity/random_case.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <sstream>
#include <utility>

#include "encoder/config.h"
#include "encoder/edge_thresholds.h"
#include "encoder/frame_layout.h"
#include "tests/parity/random_content.h"
#include "tests/parity/random_draw.h"
#include "tests/support/moving_pictures.h"

namespace cu264::parity {
namespace {

enum Purpose { kCase, kGroup, kStages, kGops, kScenes };

enum class RateMode { qp, crf, bitrate, buffer, cbr, most_bytes, exact_bytes };

RateMode draw_rate(RandomDraw& draw, Config& config) {
  const std::int64_t samples = std::int64_t{config.width} * config.height;
  const auto lookahead = [&] {
    if (!draw.once_in(3)) config.lookahead = draw.between(0, 12);
  };
  switch (draw.between(0, 13)) {
    case 0:
    case 1:
      config.crf = draw.between(0, 510) / 10.0;
      return RateMode::crf;
    case 2:
      config.bitrate = samples * draw.between(1, 60) + 20000;
      lookahead();
      return RateMode::bitrate;
    case 3:
      config.bitrate = samples * draw.between(2, 60) + 20000;
      config.max_bitrate = config.bitrate * draw.between(1, 3);
      config.buffer_bits = config.max_bitrate * draw.between(1, 4) / 2;
      lookahead();
      return RateMode::buffer;
    case 4:
      config.bitrate = samples * draw.between(10, 60) + 40000;
      config.cbr = true;
      lookahead();
      return RateMode::cbr;
    case 5:
      config.max_frame_bytes = samples * draw.between(20, 200) / 100 + 2000;
      if (draw.once_in(3)) config.on_overflow = OnOverflow::drop;
      return RateMode::most_bytes;
    case 6:
      config.frame_bytes = samples * draw.between(40, 250) / 100 + 4000;
      return RateMode::exact_bytes;
    default:
      return RateMode::qp;
  }
}

// A change that an encoder in this mode takes within a clip.
ConfigChanges draw_change(RandomDraw& draw, RateMode mode, const Config& config) {
  ConfigChanges changes;
  const int percent = draw.between(60, 200);
  switch (mode) {
    case RateMode::qp:
      changes.qp = draw.between(0, 51);
      break;
    case RateMode::crf:
      changes.crf = draw.between(0, 510) / 10.0;
      break;
    case RateMode::most_bytes:
      changes.max_frame_bytes = config.max_frame_bytes * percent / 100;
      break;
    case RateMode::bitrate:
    case RateMode::cbr:
      changes.bitrate = config.bitrate * percent / 100;
      break;
    case RateMode::buffer:
      changes.bitrate = config.bitrate * percent / 100;
      changes.max_bitrate = 2 * *changes.bitrate;
      break;
    case RateMode::exact_bytes:
      break;
  }
  return changes;
}

// Encryption and watermarks work on CAVLC.
void draw_protection(RandomDraw& draw, Config& config) {
  std::array<std::uint8_t, ProtectionKey::kBytes> bytes;
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(draw.word());
  const ProtectionKey key(bytes);
  if (draw.once_in(10)) {
    config.encryption = EncoderEncryption{key, encryption_strength(draw.between(1, 3))};
    config.cavlc = true;
  }
  if (draw.once_in(14)) {
    EncoderWatermark mark{key, {static_cast<std::uint8_t>(draw.word())}};
    mark.scheme = draw.once_in(2) ? WatermarkScheme::t1_sign : WatermarkScheme::t1_parity;
    mark.density = draw.once_in(2) ? 65536 : 4096;
    mark.spread = draw.once_in(2) ? WatermarkSpread::coded : WatermarkSpread::drawn;
    config.watermark = std::move(mark);
    config.cavlc = true;
    config.on_overflow = OnOverflow::error;
  }
}

// What edges are found with follows from what was drawn before, so that the cases of a seed stay the same.
void guide_by_edges(int strength, Config& config) {
  constexpr const char* kThresholds[] = {"distributed", "frame",     "distributed-0.01",
                                         "rows",        "0.08,0.19", "distributed"};
  const auto kind = static_cast<unsigned>(config.width + 7 * config.height + config.qp);
  if (kind % 4 == 3) {
    config.aq = AdaptiveQuantisation::steps, config.aq_strength = strength;
    return;
  }
  config.edge_guided = strength;
  config.set("edge-thresholds", kThresholds[kind / 4 % std::size(kThresholds)]);
  config.edge_maps = kind % 3 == 0;
}

Config draw_config(RandomDraw& draw, const CaseBounds& bounds) {
  Config config;
  const bool large = bounds.large_sides && draw.once_in(12);
  config.width = draw.between(1, large ? 2000 : bounds.most_width);
  config.height = draw.between(1, large ? 1200 : bounds.most_height);
  // Fine quantisers have the largest levels, and `best` has the most ways to choose them.
  config.qp = draw.between(0, draw.once_in(2) ? 16 : 51);
  config.preset = draw.one_of(std::array{Preset::fast, Preset::balanced, Preset::best, Preset::best});
  config.profile =
      draw.one_of(std::array{Profile::automatic, Profile::baseline, Profile::main, Profile::high});
  config.cavlc = draw.once_in(4);
  const bool high = config.profile == Profile::high || config.profile == Profile::automatic;
  if (high && draw.once_in(7)) config.scaling_lists = jvt_scaling_lists();
  const int rows = (config.height + 15) / 16;
  config.slices = draw.once_in(3) ? draw.between(1, rows) : 1;
  config.deblock = !draw.once_in(5);
  config.aq = AdaptiveQuantisation::off;
  switch (draw.between(0, 5)) {
    case 0:
      guide_by_edges(draw.between(1, kMaxEdgeGuided), config);
      break;
    case 1:
      config.aq = AdaptiveQuantisation::variance;
      break;
    case 2:
      config.aq = AdaptiveQuantisation::automatic;
      break;
    default:
      break;
  }
  config.headers = draw.one_of(std::array{HeaderPlacement::first_packet, HeaderPlacement::first_packet,
                                          HeaderPlacement::every_packet, HeaderPlacement::separate});
  config.reconstruction = draw.once_in(2);
  config.frame_rate = draw.once_in(2) ? Rational{25, 1} : Rational{draw.between(1, 120), draw.between(1, 3)};
  config.batch = draw.once_in(3) ? 0 : draw.between(1, 12);
  config.threads = draw.between(0, 3);
  if (bounds.devices > 1 && draw.once_in(3)) config.devices = {0, 1};
  return config;
}

FramePlacement draw_placement(RandomDraw& draw, Config& config) {
  FramePlacement placement;
  placement.format = draw.once_in(2) ? PixelFormat::i420
                                     : static_cast<PixelFormat>(draw.between(0, encoder::kPixelFormats - 1));
  config.input_format = placement.format;
  if (encoder::is_rgb(placement.format)) {
    config.colour.matrix = draw.one_of(std::array{1, 2, 5, 6});
    config.colour.full_range = draw.once_in(2);
  }
  if (draw.once_in(2)) placement.padding = 4 * draw.between(0, 9);
  placement.bottom_up = draw.once_in(6);
  placement.memory =
      draw.one_of(std::array{MemoryKind::host, MemoryKind::pinned, MemoryKind::device, MemoryKind::device});
  // Frames in device memory are read by the device that they are on.
  if (config.devices.size() > 1 && placement.memory == MemoryKind::device)
    placement.memory = MemoryKind::pinned;
  using Stream = FramePlacement::Stream;
  if (placement.memory == MemoryKind::device) {
    placement.written_late = draw.once_in(3);
    placement.stream = draw.one_of(
        std::array{Stream::null, Stream::legacy, Stream::per_thread, Stream::blocking, Stream::non_blocking});
  }
  return placement;
}

RandomClip draw_clip(RandomDraw& draw, RateMode mode, const Config& config, const CaseBounds& bounds) {
  RandomClip clip;
  clip.before.width = config.width, clip.before.height = config.height;
  const bool large = config.width > bounds.most_width || config.height > bounds.most_height;
  clip.frames = draw.between(1, large ? 3 : bounds.most_pictures);
  const int different = draw.between(1, std::min(3, clip.frames));
  for (int i = 0; i < different; ++i) {
    clip.pictures.push_back(random_picture(draw, config.width, config.height));
  }
  if (draw.once_in(4)) {
    for (int i = 0; i < clip.frames; ++i) {
      if (draw.once_in(6)) clip.changes[i] = draw_change(draw, mode, config);
    }
  }
  if (mode == RateMode::qp && draw.once_in(3)) {
    for (int i = 0; i < clip.frames; ++i) {
      if (!draw.once_in(3)) clip.qps[i] = draw.between(0, 51);
    }
  }
  if (draw.once_in(4)) {
    for (int i = 0; i < clip.frames; ++i) {
      if (draw.once_in(5)) clip.drains[i] = true;
    }
  }
  return clip;
}

// What codes and packs CAVLC on the GPU. It is drawn apart, so that cases are otherwise what they were before
// there was a choice; those with CABAC keep it.
void draw_stages(RandomDraw& draw, const CaseBounds& bounds, Config& config) {
  if (bounds.pipeline) {
    if (config.aq == AdaptiveQuantisation::variance) config.aq = AdaptiveQuantisation::off;
    return config.set("pipeline", "published");
  }
  if (encoder::uses_cabac(config)) return;
  if (draw.once_in(2)) config.entropy = EntropyCoder::cavlcu;
  if (draw.once_in(2)) config.packing = Packing::gvle;
}

// Makes the streams ones with P pictures: what does not go with them is left out.
void draw_gop(RandomDraw& draw, RandomCase& drawn) {
  Config& config = drawn.config;
  const Config before = config;
  config = Config{};
  config.width = before.width, config.height = before.height, config.qp = before.qp;
  config.preset = before.preset, config.profile = before.profile, config.cavlc = before.cavlc;
  config.slices = before.slices, config.deblock = before.deblock, config.input_format = before.input_format;
  config.colour = before.colour, config.headers = before.headers, config.frame_rate = before.frame_rate;
  config.batch = before.batch, config.threads = before.threads, config.reconstruction = before.reconstruction;
  config.crf = before.crf, config.bitrate = before.bitrate, config.max_bitrate = before.max_bitrate;
  config.buffer_bits = before.buffer_bits, config.cbr = before.cbr, config.lookahead = before.lookahead;
  config.max_frame_bytes = before.max_frame_bytes, config.frame_bytes = before.frame_bytes;
  config.on_overflow = before.on_overflow;
  config.aq = draw.once_in(3) ? AdaptiveQuantisation::variance : AdaptiveQuantisation::off;
  config.devices = before.devices;
  if (config.devices.size() > 1) config.aq = AdaptiveQuantisation::off;
  config.gop = draw.one_of(std::array{0, 2, 3, 4, 8, 30});
  for (RandomClip& clip : drawn.clips) {
    if (!draw.once_in(4)) {
      const test::Picture& first = clip.pictures.front();
      clip.pictures = test::make_clip(draw.one_of(test::kMotions), first.width, first.height,
                                      std::min(clip.frames, 8), static_cast<std::uint32_t>(draw.word()));
    }
    for (int i = 0; i < clip.frames; ++i) {
      if (draw.once_in(9)) clip.keys[i] = true;
    }
  }
}

// Has scene cuts looked for in some streams, and puts another scene in the place of the second half of most
// of their clips.
void draw_scenes(RandomDraw& draw, RandomCase& drawn) {
  drawn.config.scene_cuts = draw.once_in(3);
  if (!drawn.config.scene_cuts) return;
  for (RandomClip& clip : drawn.clips) {
    const std::size_t half = clip.pictures.size() / 2;
    if (half == 0 || draw.once_in(4)) continue;
    const test::Picture& first = clip.pictures.front();
    const std::vector<test::Picture> scene =
        test::make_clip(draw.one_of(test::kMotions), first.width, first.height, static_cast<int>(half),
                        static_cast<std::uint32_t>(draw.word()));
    std::copy(scene.begin(), scene.end(), clip.pictures.end() - static_cast<std::ptrdiff_t>(half));
  }
}

// Draws everything but what differs between a stream of its own and one of a group.
RandomCase draw_case(RandomDraw& draw, const CaseBounds& bounds) {
  RandomCase drawn;
  Config& config = drawn.config;
  config = draw_config(draw, bounds);
  const RateMode mode = draw_rate(draw, config);
  draw_protection(draw, config);
  drawn.placement = draw_placement(draw, config);
  drawn.clips.push_back(draw_clip(draw, mode, config, bounds));
  if (!draw.once_in(4)) return drawn;
  // The encoder is used again, once more of another size or preset.
  Config next = config;
  for (int i = draw.between(1, 2); i > 0; --i) {
    const bool resized = draw.once_in(2), has_preset = draw.once_in(2);
    if (resized) {
      // As many rows as the slices need.
      next.width = draw.between(1, bounds.most_width);
      next.height = std::max(draw.between(1, bounds.most_height), 16 * config.slices);
    }
    RandomClip clip = draw_clip(draw, mode, next, bounds);
    if (has_preset)
      clip.before.preset = draw.one_of(std::array{Preset::fast, Preset::balanced, Preset::best});
    drawn.clips.push_back(std::move(clip));
  }
  return drawn;
}

bool codes_again(const Config& c) {
  return c.bitrate > 0 || c.max_frame_bytes > 0 || c.frame_bytes > 0;
}

std::string rate_text(const Config& c) {
  std::ostringstream out;
  if (c.crf) out << " crf " << *c.crf;
  if (c.bitrate > 0) out << (c.cbr ? " cbr " : " bitrate ") << c.bitrate;
  if (c.max_bitrate > 0) out << " maxrate " << c.max_bitrate << " bufsize " << c.buffer_bits;
  if (c.lookahead) out << " lookahead " << *c.lookahead;
  if (c.max_frame_bytes > 0) out << " at most " << c.max_frame_bytes << " bytes";
  if (c.frame_bytes > 0) out << " exactly " << c.frame_bytes << " bytes";
  if (c.on_overflow == OnOverflow::drop) out << " or dropped";
  return out.str();
}

}  // namespace

std::string RandomCase::text() const {
  const Config& c = config;
  std::ostringstream out;
  out << c.width << 'x' << c.height << " qp " << c.qp << ' ' << encoder::name_of(c.preset) << " profile "
      << static_cast<int>(c.profile) << (c.cavlc ? " cavlc" : "")
      << (c.scaling_lists == ScalingLists{} ? "" : " jvt") << " slices " << c.slices << " batch " << c.batch
      << rate_text(c);
  if (c.gop != 1) out << " gop " << c.gop;
  if (c.scene_cuts) out << " scenecut";
  if (c.entropy == EntropyCoder::cavlcu) out << " cavlcu";
  if (c.packing == Packing::gvle) out << " gvle";
  if (c.edge_guided > 0)
    out << " edges " << c.edge_guided << ' ' << encoder::edge_thresholds_text(c.edge_detector);
  if (c.edge_maps) out << " maps";
  if (c.aq_strength > 0) out << " strength " << c.aq_strength;
  if (c.aq != AdaptiveQuantisation::off) out << " aq " << static_cast<int>(c.aq);
  if (c.encryption) out << " encrypted";
  if (c.watermark) out << " marked";
  if (!c.deblock) out << " no loop filter";
  if (c.reconstruction) out << " reconstruction";
  if (c.device_output) out << " device output";
  if (c.devices.size() > 1) out << " two devices";
  out << "; " << encoder::name_of(placement.format) << " memory " << static_cast<int>(placement.memory)
      << " padding " << placement.padding << (placement.bottom_up ? " bottom up" : "")
      << (placement.written_late ? " late" : "") << " stream " << static_cast<int>(placement.stream)
      << "; frames";
  for (const RandomClip& clip : clips) {
    out << ' ' << clip.frames;
    if (!clip.changes.empty()) out << " changes";
    if (!clip.qps.empty()) out << " qps";
    if (!clip.drains.empty()) out << " drains";
  }
  return out.str();
}

RandomCase make_case(std::uint64_t seed, int number, const CaseBounds& bounds) {
  RandomDraw draw(seed, number, kCase);
  RandomCase drawn = draw_case(draw, bounds);
  drawn.seed = seed, drawn.number = number;
  RandomDraw stages(seed, number, kStages);
  draw_stages(stages, bounds, drawn.config);
  if (bounds.gops) {
    RandomDraw gops(seed, number, kGops), scenes(seed, number, kScenes);
    draw_gop(gops, drawn);
    draw_scenes(scenes, drawn);
    const bool stays = !codes_again(drawn.config) && drawn.config.devices.size() < 2;
    if (stays && scenes.once_in(6)) drawn.config.device_output = true;
    return drawn;
  }
  if (!codes_again(drawn.config) && !drawn.config.watermark && draw.once_in(6))
    drawn.config.device_output = true;
  return drawn;
}

RandomGroup make_group(std::uint64_t seed, int number, const CaseBounds& bounds) {
  RandomDraw draw(seed, number, kGroup);
  RandomGroup group;
  group.seed = seed, group.number = number;
  group.config.batch = draw.once_in(3) ? draw.between(1, 16) : 0;
  group.config.batches_in_flight = draw.between(1, 4);
  group.config.queue = draw.between(1, 8);
  group.config.longest_wait = std::chrono::microseconds(draw.between(0, 2000));
  if (bounds.devices > 1 && draw.once_in(2)) group.config.devices = {0, 1};
  group.threads = draw.between(1, 6);
  // Many streams are alike, because those share batches.
  CaseBounds small = bounds;
  small.large_sides = false;
  const int alike_width = draw.between(1, small.most_width),
            alike_height = draw.between(1, small.most_height);
  const int streams = draw.between(1, bounds.most_streams);
  RandomDraw stages(seed, ~number, kStages), gops(seed, ~number, kGops), scenes(seed, ~number, kScenes);
  for (int i = 0; i < streams; ++i) {
    RandomCase stream = draw_case(draw, small);
    stream.seed = seed, stream.number = number;
    stream.config.devices.clear();
    if (group.config.devices.size() > 1 && stream.placement.memory == MemoryKind::device) {
      stream.config.devices = {0};
    }
    if (!draw.once_in(4)) {
      stream.config.width = alike_width, stream.config.height = alike_height;
      stream.config.slices = 1;
      stream.config.edge_guided = 0, stream.config.aq = AdaptiveQuantisation::off;
      stream.config.aq_strength = 0, stream.config.edge_detector = {}, stream.config.edge_maps = false;
      stream.config.reconstruction = false;
    }
    draw_stages(stages, bounds, stream.config);
    if (bounds.gops) {
      draw_gop(gops, stream);
      draw_scenes(scenes, stream);
    }
    // A stream of a group keeps its size, and its settings.
    for (RandomClip& clip : stream.clips) {
      clip.before = {}, clip.changes.clear(), clip.drains.clear();
      for (test::Picture& picture : clip.pictures) {
        if (picture.width != stream.config.width || picture.height != stream.config.height) {
          picture = random_picture(draw, stream.config.width, stream.config.height);
        }
      }
    }
    group.streams.push_back(std::move(stream));
  }
  return group;
}

}  // namespace cu264::parity
