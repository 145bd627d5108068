// Copies a video file while its H.264 stream passes through a function, access unit by access unit.
// Everything else (audio, subtitles, times, extradata) is copied as it is.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "io/output_file.h"

namespace cu264::io {

// All in annex B form.
struct StreamEdit {
  // Parameter sets that the container keeps outside the stream, before any access unit.
  std::function<void(std::span<const std::uint8_t>)> parameter_sets;
  // What takes the place of one or more whole access units; nothing while a picture's last slices are
  // missing, which then comes with them.
  std::function<std::vector<std::uint8_t>(std::span<const std::uint8_t>)> access_units;
  // What is put behind the last access unit.
  std::function<std::vector<std::uint8_t>()> last_units;
  // Asked often: true ends the run, with Error(bad_input). May be empty.
  std::function<bool()> stop = {};
};

// A file or pipe ("-": standard input) that begins like an H.264 byte stream is one, and passes in bounded
// memory; whatever else libavformat knows as .mp4 .mov .mkv or .ts is a container. A bare stream stays bare;
// a container's may go into any of them, or become a bare one. Nothing is written where `output` is null. The
// caller commits it. Appends to `notes` what a user should know.
void remux(const std::string& input, const StreamEdit& edit, OutputFile* output,
           const std::string& output_name, std::vector<std::string>& notes);

}  // namespace cu264::io
