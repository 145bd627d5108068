// The options of `cu264 encode`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/edges_options.h"
#include "app/overwrite.h"
#include "app/verb_help.h"
#include "cu264/encoder.h"
#include "cu264/protect.h"
#include "encoder/published/open_encoder.h"
#include "io/output_container.h"
#include "io/reader.h"

namespace cu264::app {

struct EncodeOptions {
  io::ReaderOptions reader;
  std::string output;
  io::Container container = io::Container::h264;
  bool fragmented = false;
  bool headers_first = false;  // parameter sets before the first picture only, not before each
  bool faststart = false;
  Overwrite overwrite = Overwrite::ask;
  Config config;                          // what the command line decides; the input decides the rest
  std::string qp_file;                    // --qpfile; empty if not wanted
  std::string list_file;                  // --cqmfile; the same
  std::int64_t target_size = 0;           // bytes of the output, for which Config::crf is planned; 0: off
  std::optional<published::Coder> coder;  // a published coder instead of the production kernel
  std::string recon;                      // file names; empty if not wanted
  std::string stats;
  std::optional<EdgesOutput> edges;  // where the maps go that guide the quantisation; not set: nowhere
  std::optional<EncryptionOptions> encryption;  // encryption of the finished stream
  std::optional<ProtectionKey> key;             // with encryption
  std::string payload;                          // file name, if Config::watermark is set
  std::string cavlc_for;  // what needs CAVLC without the encoder's knowledge, with an automatic profile
  bool psnr = false;
  bool ssim = false;
  bool verify = false;
  bool progress = true;  // shown if stderr is a terminal
  bool quiet = false;
  bool verbose = false;
};

// Throws Error(invalid_argument) for anything that is not understood. Returns nothing if help was asked for.
std::optional<EncodeOptions> parse_encode_options(const std::vector<std::string>& arguments);

}  // namespace cu264::app
