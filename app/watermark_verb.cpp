// cu264 watermark embed|extract: puts a payload into the trailing ones of a finished stream, and reads it.
#include "app/protection_values.h"
#include "app/stream_command.h"
#include "app/verbs.h"

namespace cu264::app {
namespace {

namespace po = boost::program_options;

constexpr char kHelp[] =
    "cu264 watermark embed INPUT -o OUTPUT --scheme t1-sign|t1-parity --payload FILE [--key-file KEY] "
    "[--density N]\n"
    "cu264 watermark extract INPUT -o FILE [--key-file KEY]\n"
    "\n"
    "Marks an all-intra CAVLC H.264 stream, bare (.264) or in an .mp4 .mov .mkv .ts, without encoding it "
    "again.\n"
    "Only blocks are marked from which no other block is predicted, so that nothing drifts.\n"
    "\n"
    "  --key-file KEY     32 bytes, or 64 hexadecimal digits; without it, CU264_KEY in the environment\n"
    "  --threads N        that work on the pictures of a bare stream (one a core)\n"
    "  --scheme S         t1-sign: the sign of a block's first trailing one; the stream's size stays\n"
    "                     t1-parity: whether the number of a block's trailing ones is odd\n"
    "  --payload FILE     what is embedded, repeated to fill the stream\n"
    "  --density N        of 65536 blocks that could carry a bit, how many do (65536)\n";

}  // namespace

ExitCode watermark_verb(const std::vector<std::string>& arguments) {
  const std::string what = arguments.empty() ? "" : arguments[0];
  if (what == "--help" || what == "-h") return std::fputs(kHelp, stdout), ExitCode::done;
  if (what != "embed" && what != "extract") {
    throw Error(ErrorCode::invalid_argument, "watermark does no '" + what + "'", "embed or extract");
  }
  po::options_description own;
  if (what == "embed") {
    own.add_options()("scheme", po::value<std::string>());
    own.add_options()("payload", po::value<std::string>());
    own.add_options()("density", po::value<std::string>());
  }
  const auto command =
      parse_stream_command("watermark", {arguments.begin() + 1, arguments.end()}, own, kHelp);
  if (!command) return ExitCode::done;
  const ProtectionKey key = command->key();
  if (what == "extract") {
    return extract_payload(*command, *make_watermark_extractor(key));
  }
  if (!command->has("payload"))
    throw Error(ErrorCode::invalid_argument, "there is no payload", "give --payload FILE");
  WatermarkOptions options;
  if (command->has("scheme")) options.scheme = parse_watermark_scheme("scheme", command->text("scheme"));
  if (command->has("density")) options.density = command->number("density", 1, 65536);
  return rewrite_stream(*command,
                        *make_watermark_embedder(key, options, read_payload(command->text("payload"))));
}

}  // namespace cu264::app
