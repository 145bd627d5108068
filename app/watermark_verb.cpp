// cu264 watermark embed|extract|capacity: puts a payload into the trailing ones of a finished stream, reads
// it, and says how large it may be.
#include <cstdio>
#include <utility>

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
    "cu264 watermark capacity INPUT [--density N]\n"
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
    "  --density N        of 65536 blocks that could carry a bit, how many do (65536)\n"
    "\n"
    "capacity prints how many bytes of payload fit, by scheme: into this stream with embed, and into a "
    "stream\n"
    "like it that cu264 encode --watermark makes, at its density of 4096 unless --density names another.\n";

ExitCode print_capacity(const StreamCommand& command) {
  const std::uint32_t embedded = command.has("density") ? command.number("density", 1, 65536) : 65536;
  const std::uint32_t encoded = command.has("density") ? embedded : 4096;
  const auto sign = make_watermark_meter(WatermarkScheme::t1_sign);
  const auto parity = make_watermark_meter(WatermarkScheme::t1_parity);
  if (!read_stream(command, {sign.get(), parity.get()})) return ExitCode::interrupted;
  sign->finish(), parity->finish();
  const StreamCounts counts[] = {sign->counts(), parity->counts()};
  std::printf("%llu pictures; bytes of payload:       t1-sign  t1-parity\n",
              static_cast<unsigned long long>(counts[0].pictures));
  const auto print = [](const char* what, std::uint32_t density, std::uint64_t a, std::uint64_t b) {
    std::printf("%-18s density %5u %10llu %10llu\n", what, density, static_cast<unsigned long long>(a),
                static_cast<unsigned long long>(b));
  };
  print("watermark embed", embedded, watermark_room(counts[0], embedded),
        watermark_room(counts[1], embedded));
  for (const auto& [what, spread] :
       {std::pair{"encode, coded", WatermarkSpread::coded}, {"encode, drawn", WatermarkSpread::drawn}}) {
    print(what, encoded, encoder_watermark_room(counts[0], encoded, spread),
          encoder_watermark_room(counts[1], encoded, spread));
  }
  return ExitCode::done;
}

}  // namespace

ExitCode watermark_verb(const std::vector<std::string>& arguments) {
  const std::string what = arguments.empty() ? "" : arguments[0];
  if (what == "--help" || what == "-h") return std::fputs(kHelp, stdout), ExitCode::done;
  if (what != "embed" && what != "extract" && what != "capacity") {
    throw Error(ErrorCode::invalid_argument, "watermark does no '" + what + "'",
                "embed, extract or capacity");
  }
  po::options_description own;
  if (what == "embed") {
    own.add_options()("scheme", po::value<std::string>());
    own.add_options()("payload", po::value<std::string>());
  }
  if (what != "extract") own.add_options()("density", po::value<std::string>());
  const auto command = parse_stream_command("watermark", {arguments.begin() + 1, arguments.end()}, own, kHelp,
                                            what != "capacity");
  if (!command) return ExitCode::done;
  if (what == "capacity") return print_capacity(*command);
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
