// cu264 watermark embed|extract: puts a payload into the trailing ones of a finished stream, and reads it.
#include "app/protection_values.h"
#include "app/stream_command.h"
#include "app/verbs.h"

namespace cu264::app {

VerbHelp watermark_help() {
  return {"watermark",
          "mark a finished stream",
          {"embed", "extract"},
          {"watermark embed [options] INPUT OUTPUT --payload FILE", "watermark extract [options] INPUT FILE"},
          {"Marks an all-intra CAVLC H.264 stream, bare (.264) or in an .mp4 .mov .mkv .ts, without encoding "
           "it again. "
           "Only blocks are marked from which no other block is predicted, so that nothing drifts."},
          {"cu264 watermark embed film.mp4 marked.mp4 --scheme t1-sign --payload id.txt --key-file key.hex",
           "cu264 watermark extract marked.mp4 id.txt --key-file key.hex"},
          {stream_options(),
           {"Options of embed",
            {{"scheme", 0, "t1-sign|t1-parity",
              "t1-sign: the sign of a block's first trailing one, the stream's size stays; t1-parity: "
              "whether the "
              "number of a block's trailing ones is odd (t1-sign)"},
             {"payload", 0, "FILE", "what is embedded, repeated to fill the stream"},
             {"density", 0, "N", "of 65536 blocks that could carry a bit, how many do (65536)"}},
            "embed"}}};
}

ExitCode watermark_verb(const std::vector<std::string>& arguments) {
  const auto command = parse_stream_command(watermark_help(), arguments);
  if (!command) return ExitCode::done;
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
