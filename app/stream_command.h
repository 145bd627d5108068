// The common part of the verbs for finished streams: their files, key and threads, and the run itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/exit_code.h"
#include "app/overwrite.h"
#include "app/parsed_options.h"
#include "cu264/protect.h"

namespace cu264::app {

struct StreamCommand {
  std::string action;  // which of the verb's actions
  std::string input, output;
  Overwrite overwrite = Overwrite::ask;
  ParsedOptions values;

  bool has(const char* name) const { return values.has(name); }
  std::string text(const char* name) const { return values[name]; }
  // Returns a whole number from `low` to `high`.
  std::uint32_t number(const char* name, std::uint32_t low, std::uint32_t high) const;
  // Reads the key from --key-file, or from CU264_KEY.
  ProtectionKey key() const;
  // Sets the threads that --threads asks for; without it there is one for each core.
  void set_threads(StreamTool& tool) const;
};

// The options that all these verbs have.
OptionGroup stream_options();

// Parses ACTION INPUT OUTPUT and options; an action that only reports has no output. Returns nothing if help
// was asked for, which is then printed. Throws Error(invalid_argument) for anything that is not understood.
std::optional<StreamCommand> parse_stream_command(const VerbHelp& help,
                                                  const std::vector<std::string>& arguments,
                                                  bool has_output = true);

// Reads a payload file. One that is empty, or larger than any stream could hold, is refused.
std::vector<std::uint8_t> read_payload(const std::string& path);

// Passes the input through the tool into the output. If interrupted, it leaves no output.
ExitCode rewrite_stream(const StreamCommand& command, StreamTool& tool);
// Passes the input through the tools, which only read. Returns false if interrupted.
bool read_stream(const StreamCommand& command, const std::vector<StreamTool*>& tools);
// Passes the input through the tool, and writes the payload that the tool finds to the output.
ExitCode extract_payload(const StreamCommand& command, StreamTool& tool);

}  // namespace cu264::app
