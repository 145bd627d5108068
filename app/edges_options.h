// What `cu264 edges` was asked to do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cu264/canny.h"
#include "cu264/encoder.h"
#include "io/output_container.h"
#include "io/reader.h"

namespace cu264::app {

enum class EdgeFormat { pgm, png, video };

struct EdgesOptions {
  io::ReaderOptions reader;
  std::string output;
  EdgeFormat format = EdgeFormat::pgm;
  io::Container container = io::Container::h264;  // of video
  canny::Params params;
  bool published = false;  // the paper's form
  canny::Machine machine;
  Config config;  // of video: what the command line decides of it
  bool overlay = false;
  std::string thresholds;  // file name; empty: not wanted
  bool progress = true;    // where stderr is a terminal
  bool quiet = false;
};

// Throws Error(invalid_argument) on anything not understood. Nothing: help was asked for.
std::optional<EdgesOptions> parse_edges_options(const std::vector<std::string>& arguments);

std::string edges_help();

}  // namespace cu264::app
