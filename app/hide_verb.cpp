// cu264 hide put|get: hides data in the level suffixes of a finished stream, encrypted or not, and reads it.
#include "app/stream_command.h"
#include "app/verbs.h"

namespace cu264::app {
namespace {

namespace po = boost::program_options;

constexpr char kHelp[] =
    "cu264 hide put INPUT -o OUTPUT --payload FILE [--key-file KEY]\n"
    "cu264 hide get INPUT -o FILE [--key-file KEY]\n"
    "\n"
    "Hides data in the level suffixes of an all-intra CAVLC H.264 stream, bare (.264) or in an .mp4 .mov "
    ".mkv .ts, by\n"
    "codewords of the same length. The stream may be encrypted; the data can be read before and after "
    "decryption.\n"
    "\n"
    "  --key-file KEY     32 bytes, or 64 hexadecimal digits; without it, CU264_KEY in the environment\n"
    "  --threads N        that work on the pictures of a bare stream (one a core)\n"
    "  --payload FILE     what is hidden\n";

}  // namespace

ExitCode hide_verb(const std::vector<std::string>& arguments) {
  const std::string what = arguments.empty() ? "" : arguments[0];
  if (what == "--help" || what == "-h") return std::fputs(kHelp, stdout), ExitCode::done;
  if (what != "put" && what != "get") {
    throw Error(ErrorCode::invalid_argument, "hide does no '" + what + "'", "put or get");
  }
  po::options_description own;
  if (what == "put") own.add_options()("payload", po::value<std::string>());
  const auto command = parse_stream_command("hide", {arguments.begin() + 1, arguments.end()}, own, kHelp);
  if (!command) return ExitCode::done;
  const ProtectionKey key = command->key();
  if (what == "get") {
    return extract_payload(*command, *make_hidden_reader(key));
  }
  if (!command->has("payload"))
    throw Error(ErrorCode::invalid_argument, "there is no payload", "give --payload FILE");
  return rewrite_stream(*command, *make_hider(key, read_payload(command->text("payload"))));
}

}  // namespace cu264::app
