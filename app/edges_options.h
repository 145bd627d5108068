// The options of `cu264 edges`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/overwrite.h"
#include "app/verb_help.h"
#include "cu264/canny.h"
#include "cu264/encoder.h"
#include "io/output_container.h"
#include "io/reader.h"

namespace cu264::app {

enum class EdgeFormat { pgm, png, video };

struct EdgesOptions {
  io::ReaderOptions reader;
  std::string output;
  Overwrite overwrite = Overwrite::ask;
  EdgeFormat format = EdgeFormat::pgm;
  io::Container container = io::Container::h264;  // for video
  canny::Params params;
  bool published = false;  // use the detector as the paper has it
  canny::ExecutionOptions execution;
  Config config;  // for video: what the command line decides of it
  bool overlay = false;
  std::string thresholds;  // file name; empty if not wanted
  bool progress = true;    // shown if stderr is a terminal
  bool quiet = false;
};

// Throws Error(invalid_argument) for anything that is not understood. Returns nothing if help was asked for.
std::optional<EdgesOptions> parse_edges_options(const std::vector<std::string>& arguments);

}  // namespace cu264::app
