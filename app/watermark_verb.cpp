// cu264 watermark embed|extract|capacity: puts a payload into the trailing ones of a finished stream, reads
// it, and says how large it may be.
#include <cstdio>
#include <utility>

#include "app/interrupt.h"
#include "app/protection_values.h"
#include "app/stream_command.h"
#include "app/verbs.h"

namespace cu264::app {
namespace {

ExitCode print_capacity(const StreamCommand& command) {
  const std::uint32_t embedded = command.has("density") ? command.number("density", 1, 65536) : 65536;
  const std::uint32_t encoded = command.has("density") ? embedded : 4096;
  const auto sign = make_watermark_meter(WatermarkScheme::t1_sign);
  const auto parity = make_watermark_meter(WatermarkScheme::t1_parity);
  if (!read_stream(command, {sign.get(), parity.get()})) return interrupted_exit();
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

VerbHelp watermark_help() {
  return {
      "watermark",
      "mark a finished stream",
      {"embed", "extract", "capacity"},
      {"watermark embed [options] INPUT OUTPUT --payload FILE", "watermark extract [options] INPUT FILE",
       "watermark capacity [options] INPUT"},
      {"Marks an all-intra CAVLC H.264 stream, bare (.264) or in an .mp4 .mov .mkv .ts, without encoding "
       "it again. Only blocks are marked from which no other block is predicted, so that nothing drifts.",
       "capacity prints how many bytes of payload fit, by scheme: into this stream with embed, and into a "
       "stream "
       "like it that cu264 encode --watermark makes, at its density of 4096 unless --density names another."},
      {"cu264 watermark embed film.mp4 marked.mp4 --scheme t1-sign --payload id.txt --key-file key.hex",
       "cu264 watermark extract marked.mp4 id.txt --key-file key.hex"},
      {stream_options(),
       {"Options of embed",
        {{"scheme", 0, "t1-sign|t1-parity",
          "t1-sign: the sign of a block's first trailing one, the stream's size stays; t1-parity: "
          "whether the number of a block's trailing ones is odd (t1-sign)"},
         {"payload", 0, "FILE", "what is embedded, repeated to fill the stream"},
         {"density", 0, "N", "of 65536 blocks that could carry a bit, how many do (65536)"}},
        "embed"},
       {"Options of capacity",
        {{"density", 0, "N",
          "of 65536 blocks that could carry a bit, how many do (65536 with embed, 4096 with encode)"}},
        "capacity"}}};
}

ExitCode watermark_verb(const std::vector<std::string>& arguments) {
  const bool has_output = arguments.empty() || arguments[0] != "capacity";
  const auto command = parse_stream_command(watermark_help(), arguments, has_output);
  if (!command) return ExitCode::done;
  if (command->action == "capacity") return print_capacity(*command);
  const ProtectionKey key = command->key();
  if (command->action == "extract") return extract_payload(*command, *make_watermark_extractor(key));
  if (!command->has("payload")) usage("there is no payload", "give --payload FILE");
  WatermarkOptions options;
  if (command->has("scheme")) options.scheme = parse_watermark_scheme("scheme", command->text("scheme"));
  if (command->has("density")) options.density = command->number("density", 1, 65536);
  return rewrite_stream(*command,
                        *make_watermark_embedder(key, options, read_payload(command->text("payload"))));
}

}  // namespace cu264::app
