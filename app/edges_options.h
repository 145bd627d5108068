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

// Where edge maps are written, and how.
struct EdgesOutput {
  std::string path;
  Overwrite overwrite = Overwrite::ask;
  EdgeFormat format = EdgeFormat::pgm;
  io::Container container = io::Container::h264;  // for video
  Config config;                                  // for video: the part that the command line decides
  bool overlay = false;                           // the maps come as pictures with edges on them
  std::string input;                              // a file that no picture may replace
};

// The output of that name, whose extension says how it is written. Throws Error(invalid_argument).
EdgesOutput edges_output(const std::string& path, Overwrite overwrite, const std::string& input);

struct EdgesOptions {
  io::ReaderOptions reader;
  EdgesOutput output;
  canny::Params params;
  bool published = false;  // use the detector as the paper has it
  canny::ExecutionOptions execution;
  std::string thresholds;  // file name; empty if not wanted
  bool progress = true;    // shown if stderr is a terminal
  bool quiet = false;
};

// Throws Error(invalid_argument) for anything that is not understood. Returns nothing if help was asked for.
std::optional<EdgesOptions> parse_edges_options(const std::vector<std::string>& arguments);

}  // namespace cu264::app
