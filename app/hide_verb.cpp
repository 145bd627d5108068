// cu264 hide put|get: hides data in the level suffixes of a finished stream, encrypted or not, and reads it.
#include "app/stream_command.h"
#include "app/verbs.h"

namespace cu264::app {

VerbHelp hide_help() {
  return {
      "hide",
      "hide data in a finished stream",
      {"put", "get"},
      {"hide put [options] INPUT OUTPUT --payload FILE", "hide get [options] INPUT FILE"},
      {"Hides data in the level suffixes of an all-intra CAVLC H.264 stream, bare (.264) or in an .mp4 .mov "
       ".mkv .ts, "
       "by codewords of the same length. The stream may be encrypted; the data can be read before and after "
       "decryption."},
      {"cu264 hide put film.mp4 full.mp4 --payload note.txt --key-file key.hex",
       "cu264 hide get full.mp4 note.txt --key-file key.hex"},
      {stream_options(), {"Options of put", {{"payload", 0, "FILE", "what is hidden"}}, "put"}}};
}

ExitCode hide_verb(const std::vector<std::string>& arguments) {
  const auto command = parse_stream_command(hide_help(), arguments);
  if (!command) return ExitCode::done;
  const ProtectionKey key = command->key();
  if (command->action == "get") return extract_payload(*command, *make_hidden_reader(key));
  if (!command->has("payload")) usage("there is no payload", "give --payload FILE");
  return rewrite_stream(*command, *make_hider(key, read_payload(command->text("payload"))));
}

}  // namespace cu264::app
