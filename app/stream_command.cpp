#include "app/stream_command.h"

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "app/interrupt.h"
#include "app/protection_values.h"
#include "io/av.h"
#include "io/output_file.h"
#include "io/remux.h"

namespace cu264::app {
namespace {

namespace po = boost::program_options;

constexpr std::size_t kMaxPayload = std::size_t{1} << 28;

void print_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) std::fprintf(stderr, "cu264: note: %s\n", note.c_str());
}

io::StreamEdit edit_of(StreamTool& tool) {
  return {[&tool](std::span<const std::uint8_t> stream) { tool.parameter_sets(stream); },
          [&tool](std::span<const std::uint8_t> stream) {
            if (interrupted()) throw Error(ErrorCode::bad_input, "interrupted", "nothing was written");
            return tool.access_units(stream);
          },
          [&tool] { return tool.last_units(); }, [] { return interrupted(); }};
}

}  // namespace

std::uint32_t StreamCommand::number(const char* name, std::uint32_t low, std::uint32_t high) const {
  const std::string digits = text(name);
  std::uint32_t value = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size() || value < low ||
      value > high) {
    throw Error(ErrorCode::invalid_argument,
                "--" + std::string(name) + " '" + digits + "' is out of its range",
                std::to_string(low) + " to " + std::to_string(high));
  }
  return value;
}

ProtectionKey StreamCommand::key() const {
  return has("key-file") ? key_of_file(text("key-file")) : ProtectionKey::from_environment();
}

std::optional<StreamCommand> parse_stream_command(const std::string& verb,
                                                  const std::vector<std::string>& arguments,
                                                  const po::options_description& own,
                                                  const std::string& help) {
  po::options_description all;
  all.add(own);
  all.add_options()("output,o", po::value<std::string>());
  all.add_options()("key-file", po::value<std::string>());
  all.add_options()("threads", po::value<std::string>());
  all.add_options()("input", po::value<std::string>());
  all.add_options()("help,h", "");
  po::positional_options_description positional;
  positional.add("input", 1);
  StreamCommand command;
  try {
    namespace style = po::command_line_style;
    const int exact = style::unix_style & ~style::allow_guessing;
    po::store(po::command_line_parser(arguments).options(all).positional(positional).style(exact).run(),
              command.values);
    po::notify(command.values);
  } catch (const po::error& error) {
    throw Error(ErrorCode::invalid_argument, error.what(), "cu264 " + verb + " --help tells what there is");
  }
  if (command.has("help")) return std::fputs(help.c_str(), stdout), std::nullopt;
  if (!command.has("input") || command.text("input").empty()) {
    throw Error(ErrorCode::invalid_argument, "there is no input", "cu264 " + verb + " --help tells how");
  }
  if (!command.has("output") || command.text("output").empty()) {
    throw Error(ErrorCode::invalid_argument, "there is no output", "give -o OUTPUT");
  }
  command.input = command.text("input"), command.output = command.text("output");
  for (const char* name : {"input", "key-file", "payload"}) {
    if (!command.has(name) || (command.text(name) == "-" && command.output == "-"))
      continue;  // these are two pipes
    if (io::same_file(command.text(name), command.output)) {
      throw Error(ErrorCode::invalid_argument, command.output + " is the output and the " + name,
                  "name another output");
    }
  }
  return command;
}

void StreamCommand::set_threads(StreamTool& tool) const {
  tool.set_threads(has("threads") ? static_cast<int>(number("threads", 1, 1024)) : 0);
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
  command.set_threads(tool);
  catch_signals();
  io::capture_av_log();
  io::OutputFile output(command.output);
  std::vector<std::string> notes;
  try {
    io::remux(command.input, edit_of(tool), &output, command.output, notes);
  } catch (const Error&) {
    if (interrupted()) return interrupted_exit();
    throw;
  }
  tool.finish();
  output.commit();
  print_notes(notes);
  return ExitCode::done;
}

ExitCode extract_payload(const StreamCommand& command, StreamTool& tool) {
  command.set_threads(tool);
  catch_signals();
  io::capture_av_log();
  std::vector<std::string> notes;
  try {
    io::remux(command.input, edit_of(tool), nullptr, {}, notes);
  } catch (const Error&) {
    if (interrupted()) return interrupted_exit();
    throw;
  }
  const std::vector<std::uint8_t> payload = tool.finish();
  io::OutputFile output(command.output);
  output.write(payload.data(), payload.size());
  output.commit();
  return ExitCode::done;
}

}  // namespace cu264::app
