// What the verbs on finished streams share: IN -o OUT --key-file K, and the run itself.
#pragma once

#include <boost/program_options.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/exit_code.h"
#include "cu264/protect.h"

namespace cu264::app {

struct StreamCommand {
  std::string input, output;
  boost::program_options::variables_map values;  // of the verb's own options

  bool has(const char* name) const { return values.count(name) != 0; }
  std::string text(const char* name) const { return values[name].as<std::string>(); }
  // A whole number from `low` to `high`.
  std::uint32_t number(const char* name, std::uint32_t low, std::uint32_t high) const;
  // Of --key-file, or of CU264_KEY.
  ProtectionKey key() const;
  // Of --threads; without it, one a core.
  void set_threads(StreamTool& tool) const;
};

// Nothing: help was asked for, and printed. Throws Error(invalid_argument) on anything not understood.
std::optional<StreamCommand> parse_stream_command(const std::string& verb,
                                                  const std::vector<std::string>& arguments,
                                                  const boost::program_options::options_description& own,
                                                  const std::string& help);

// A payload file; one that is empty or larger than any stream could hold is refused.
std::vector<std::uint8_t> read_payload(const std::string& path);

// The input through the tool into the output. Interrupted, it leaves nothing.
ExitCode rewrite_stream(const StreamCommand& command, StreamTool& tool);
// The input through the tool; the payload it finds into the output.
ExitCode extract_payload(const StreamCommand& command, StreamTool& tool);

}  // namespace cu264::app
