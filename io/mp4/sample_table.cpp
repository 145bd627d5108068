#include "io/mp4/sample_table.h"

#include <cstddef>
#include <vector>

namespace cu264::mp4 {
namespace {

void write_durations(BoxWriter& w, const std::vector<Sample>& samples) {
  w.full_box("stts", 0, 0, [&] {
    const std::size_t at = w.size();
    w.u32(0);
    std::uint32_t runs = 0;
    for (std::size_t i = 0; i < samples.size();) {
      std::size_t end = i;
      while (end < samples.size() && samples[end].duration == samples[i].duration) ++end;
      w.u32(static_cast<std::uint32_t>(end - i)), w.u32(samples[i].duration);
      ++runs;
      i = end;
    }
    w.set_u32(at, runs);
  });
}

void write_sync_samples(BoxWriter& w, const std::vector<Sample>& samples) {
  w.full_box("stss", 0, 0, [&] {
    const std::size_t at = w.size();
    w.u32(0);
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (!samples[i].sync) continue;
      w.u32(static_cast<std::uint32_t>(i + 1));
      ++count;
    }
    w.set_u32(at, count);
  });
}

void write_chunk_sizes(BoxWriter& w, const std::vector<Chunk>& chunks) {
  w.full_box("stsc", 0, 0, [&] {
    const std::size_t at = w.size();
    w.u32(0);
    std::uint32_t runs = 0, before = 0;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      if (chunks[i].samples == before) continue;
      before = chunks[i].samples;
      w.u32(static_cast<std::uint32_t>(i + 1)), w.u32(before), w.u32(1);
      ++runs;
    }
    w.set_u32(at, runs);
  });
}

void write_sizes(BoxWriter& w, const std::vector<Sample>& samples) {
  w.full_box("stsz", 0, 0, [&] {
    w.u32(0);
    w.u32(static_cast<std::uint32_t>(samples.size()));
    for (const Sample& sample : samples) w.u32(sample.size);
  });
}

void write_offsets(BoxWriter& w, const std::vector<Chunk>& chunks, std::uint64_t base, bool wide) {
  const auto content = [&] {
    w.u32(static_cast<std::uint32_t>(chunks.size()));
    for (const Chunk& chunk : chunks) {
      wide ? w.u64(base + chunk.offset) : w.u32(static_cast<std::uint32_t>(base + chunk.offset));
    }
  };
  wide ? w.full_box("co64", 0, 0, content) : w.full_box("stco", 0, 0, content);
}

}  // namespace

void write_sample_table(BoxWriter& w, const Track& track, std::uint64_t base, bool wide) {
  write_durations(w, track.samples());
  if (!track.all_sync()) write_sync_samples(w, track.samples());
  write_chunk_sizes(w, track.chunks());
  write_sizes(w, track.samples());
  write_offsets(w, track.chunks(), base, wide);
}

// AudioPreRollEntry (ISO/IEC 14496-12, 10.1), which the encapsulation of Opus asks for
void write_opus_roll(BoxWriter& w, const Track& track) {
  if (track.samples().empty()) return;
  const std::uint32_t packet = track.samples().front().duration;
  const std::uint32_t packets = (track.timescale() * 80 / 1000 + packet - 1) / packet;
  w.full_box("sgpd", 1, 0, [&] {
    w.type("roll");
    w.u32(2);  // bytes of an entry
    w.u32(1);
    w.u16(0u - packets);
  });
  w.full_box("sbgp", 0, 0, [&] {
    w.type("roll");
    w.u32(1);
    w.u32(static_cast<std::uint32_t>(track.samples().size())), w.u32(1);
  });
}

}  // namespace cu264::mp4
