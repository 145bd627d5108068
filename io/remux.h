// Copies a video file while its H.264 stream passes through a function, access unit by access unit.
// Everything else (audio, subtitles, times, extradata) is copied unchanged.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "io/output_file.h"

namespace cu264::io {

// The functions through which a stream passes. All data is in annex B form.
struct StreamEdit {
  // Takes parameter sets that the container keeps outside the stream, before any access unit.
  std::function<void(std::span<const std::uint8_t>)> parameter_sets;
  // Returns what replaces one or more whole access units. It returns nothing while a picture's last slices
  // are missing; the whole picture then comes with them.
  std::function<std::vector<std::uint8_t>(std::span<const std::uint8_t>)> access_units;
  // Returns what is put after the last access unit.
  std::function<std::vector<std::uint8_t>()> last_units;
  // Called often; true ends the run with Error(bad_input). It may be empty.
  std::function<bool()> stop = {};
};

// Copies `input` to `output`. A file or pipe ("-" is standard input) that begins like an H.264 byte stream is
// treated as one, and passes in bounded memory; anything else that libavformat knows as .mp4, .mov, .mkv or
// .ts is a container. A bare stream stays bare; a container's stream may go into any of these containers, or
// become a bare one. Nothing is written if `output` is null. The caller commits it. Appends to `notes` what a
// user should know.
void remux(const std::string& input, const StreamEdit& edit, OutputFile* output,
           const std::string& output_name, std::vector<std::string>& notes);

}  // namespace cu264::io
