#include "app/stream_command.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "app/common_options.h"
#include "app/interrupt.h"
#include "app/protection_values.h"
#include "io/av.h"
#include "io/output_file.h"
#include "io/remux.h"

namespace cu264::app {
namespace {

constexpr std::size_t kMaxPayload = std::size_t{1} << 28;

void print_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) std::fprintf(stderr, "cu264: note: %s\n", note.c_str());
}

// Each tool sees the whole stream; the output of the last one is written.
io::StreamEdit edit_of(const std::vector<StreamTool*>& tools) {
  return {[tools](std::span<const std::uint8_t> stream) {
            for (StreamTool* const tool : tools) tool->parameter_sets(stream);
          },
          [tools](std::span<const std::uint8_t> stream) {
            if (interrupted()) throw Error(ErrorCode::bad_input, "interrupted", "nothing was written");
            std::vector<std::uint8_t> out;
            for (StreamTool* const tool : tools) out = tool->access_units(stream);
            return out;
          },
          [tools] {
            std::vector<std::uint8_t> out;
            for (StreamTool* const tool : tools) out = tool->last_units();
            return out;
          },
          [] { return interrupted(); }};
}

}  // namespace

std::uint32_t StreamCommand::number(const char* name, std::uint32_t low, std::uint32_t high) const {
  const std::string digits = text(name);
  std::uint32_t value = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size() || value < low ||
      value > high) {
    usage("--" + std::string(name) + " '" + digits + "' is out of its range",
          std::to_string(low) + " to " + std::to_string(high));
  }
  return value;
}

ProtectionKey StreamCommand::key() const {
  return has("key-file") ? key_of_file(text("key-file")) : ProtectionKey::from_environment();
}

OptionGroup stream_options() {
  return {"Options",
          {kInputOption,
           kOutputOption,
           kOverwriteOption,
           kKeepOption,
           kKeyOption,
           {"threads", 0, "N|auto", "that work on the pictures of a bare stream; auto: one a core (auto)"},
           kHelpOption}};
}

std::optional<StreamCommand> parse_stream_command(const VerbHelp& help,
                                                  const std::vector<std::string>& arguments,
                                                  bool has_output) {
  const std::string action = arguments.empty() ? "" : arguments[0];
  if (action == "--help" || action == "-h") return std::fputs(help_text(help).c_str(), stdout), std::nullopt;
  if (std::find(help.actions.begin(), help.actions.end(), action) == help.actions.end()) {
    std::string list;
    for (const std::string& one : help.actions) list += (list.empty() ? "" : ", ") + one;
    usage(help.name + " does no '" + action + "'", "one of " + list);
  }
  const ParsedOptions parsed({arguments.begin() + 1, arguments.end()}, help.options(action),
                             help.name + " " + action);
  if (parsed.has("help")) return std::fputs(help_text(help).c_str(), stdout), std::nullopt;
  const NamedFiles files = named_files(
      parsed, parsed.words(),
      help.name + " " + action + (has_output ? " [options] INPUT OUTPUT" : " [options] INPUT"), has_output);
  check_files_differ({files.input, files.output});
  for (const char* name : {"key-file", "payload"}) {
    if (parsed.has(name) && io::same_file(parsed[name], files.output))
      usage(files.output + ": is the output and the " + name, "name another output");
  }
  return StreamCommand{action, files.input, files.output, read_overwrite(parsed), parsed};
}

void StreamCommand::set_threads(StreamTool& tool) const {
  constexpr int kMaxThreads = 1024;
  const bool automatic = !has("threads") || text("threads") == "auto";
  tool.set_threads(automatic ? 0 : static_cast<int>(number("threads", 1, kMaxThreads)));
}

std::vector<std::uint8_t> read_payload(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown))
    throw Error(ErrorCode::bad_input, path + ": the payload is a directory", "name a file");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorCode::bad_input, path + ": the payload cannot be read");
  std::vector<std::uint8_t> payload{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) throw Error(ErrorCode::bad_input, path + ": the payload cannot be read");
  if (payload.empty()) throw Error(ErrorCode::bad_input, path + ": the payload is empty");
  if (payload.size() > kMaxPayload)
    throw Error(ErrorCode::bad_input, path + ": the payload is larger than 256 MiB");
  return payload;
}

ExitCode rewrite_stream(const StreamCommand& command, StreamTool& tool) {
  check_not_a_terminal(command.output);
  command.set_threads(tool);
  catch_signals();
  io::set_up_av();
  check_overwrite(command.output, command.overwrite);
  io::OutputFile output(command.output);
  std::vector<std::string> notes;
  try {
    io::remux(command.input, edit_of({&tool}), &output, command.output, notes);
  } catch (const Error&) {
    if (interrupted()) return interrupted_exit();
    throw;
  }
  tool.finish();
  output.commit();
  print_notes(notes);
  return ExitCode::done;
}

bool read_stream(const StreamCommand& command, const std::vector<StreamTool*>& tools) {
  for (StreamTool* const tool : tools) command.set_threads(*tool);
  catch_signals();
  io::set_up_av();
  std::vector<std::string> notes;
  try {
    io::remux(command.input, edit_of(tools), nullptr, {}, notes);
  } catch (const Error&) {
    if (interrupted()) return false;
    throw;
  }
  return true;
}

ExitCode extract_payload(const StreamCommand& command, StreamTool& tool) {
  catch_signals();
  check_overwrite(command.output, command.overwrite);
  if (!read_stream(command, {&tool})) return interrupted_exit();
  const std::vector<std::uint8_t> payload = tool.finish();
  io::OutputFile output(command.output);
  output.write(payload.data(), payload.size());
  output.commit();
  return ExitCode::done;
}

}  // namespace cu264::app
