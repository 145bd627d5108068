// The common part of the verbs for finished streams: IN -o OUT --key-file K, and the run itself.
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
  boost::program_options::variables_map values;  // values of the verb's own options

  bool has(const char* name) const { return values.count(name) != 0; }
  std::string text(const char* name) const { return values[name].as<std::string>(); }
  // Returns a whole number from `low` to `high`.
  std::uint32_t number(const char* name, std::uint32_t low, std::uint32_t high) const;
  // Reads the key from --key-file, or from CU264_KEY.
  ProtectionKey key() const;
  // Sets the threads that --threads asks for; without it there is one for each core.
  void set_threads(StreamTool& tool) const;
};

// A verb that only reports has no output. Returns nothing if help was asked for, which is then printed.
// Throws Error(invalid_argument) for anything that is not understood.
std::optional<StreamCommand> parse_stream_command(const std::string& verb,
                                                  const std::vector<std::string>& arguments,
                                                  const boost::program_options::options_description& own,
                                                  const std::string& help, bool has_output = true);

// Reads a payload file. One that is empty, or larger than any stream could hold, is refused.
std::vector<std::uint8_t> read_payload(const std::string& path);

// Passes the input through the tool into the output. If interrupted, it leaves no output.
ExitCode rewrite_stream(const StreamCommand& command, StreamTool& tool);
// Passes the input through the tools, which only read. Returns false if interrupted.
bool read_stream(const StreamCommand& command, const std::vector<StreamTool*>& tools);
// Passes the input through the tool, and writes the payload that the tool finds to the output.
ExitCode extract_payload(const StreamCommand& command, StreamTool& tool);

}  // namespace cu264::app
