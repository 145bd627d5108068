// cu264 protect encrypt|decrypt|new-key: encrypts a finished stream selectively, decrypts it, and makes keys.
#include "app/interrupt.h"
#include "app/protection_values.h"
#include "app/stream_command.h"
#include "app/verbs.h"

namespace cu264::app {
namespace {

ExitCode new_key(const std::vector<std::string>& arguments) {
  if (arguments.size() != 1 || arguments[0].empty() || arguments[0][0] == '-') {
    usage("new-key takes the name of one file", "cu264 protect new-key FILE");
  }
  catch_signals();  // the remaining work takes a moment and is finished
  ProtectionKey::random().write_new_file(arguments[0]);
  return ExitCode::done;
}

}  // namespace

VerbHelp protect_help() {
  return {
      "protect",
      "encrypt a finished stream, so that it still decodes",
      {"encrypt", "decrypt", "new-key"},
      {"protect encrypt [options] INPUT OUTPUT", "protect decrypt [options] INPUT OUTPUT",
       "protect new-key FILE"},
      {"Encrypts parts of an all-intra H.264 stream so that it still decodes, to noise; decrypting gives the "
       "stream back byte for byte. With CABAC signs and suffixes can be encrypted. INPUT is a bare stream "
       "(.264) or "
       "an .mp4 .mov .mkv .ts, whose other "
       "streams are "
       "copied. docs/protection.md says what this protects and what it does not.",
       "new-key makes a key in a file that only its owner may read. It never overwrites a file."},
      {"cu264 protect new-key key.hex",
       "cu264 protect encrypt film.mp4 sealed.mp4 --parts signs --key-file key.hex",
       "cu264 protect decrypt sealed.mp4 film2.mp4 --key-file key.hex"},
      {stream_options(),
       {"Options of encrypt",
        {{"parts", 0, "LIST",
          "of signs, suffixes, modes, codewords (signs); suffixes need CABAC, the last two CAVLC"},
         {"strength", 0, "N", "1: signs; 2: signs,modes; 3: all"},
         {"authenticate", 0, nullptr, "codes tell when pictures, their order or their number were changed"}},
        "encrypt"},
       {"Options of decrypt",
        {{"require-authentication", 0, nullptr, "refuse a stream without such codes"}},
        "decrypt"}}};
}

ExitCode protect_verb(const std::vector<std::string>& arguments) {
  const bool helps = arguments.size() > 1 && (arguments[1] == "--help" || arguments[1] == "-h");
  if (!arguments.empty() && arguments[0] == "new-key" && !helps)
    return new_key({arguments.begin() + 1, arguments.end()});
  const auto command = parse_stream_command(protect_help(), arguments);
  if (!command) return ExitCode::done;
  const ProtectionKey key = command->key();
  if (command->action == "decrypt") {
    return rewrite_stream(*command, *make_decryptor(key, {command->has("require-authentication")}));
  }
  EncryptionOptions options;
  if (command->has("parts") && command->has("strength")) {
    usage("--parts and --strength say the same", "give one of them");
  }
  if (command->has("parts")) options.parts = parse_encryption_parts("parts", command->text("parts"));
  if (command->has("strength")) {
    options.parts = parse_encryption_strength("strength", command->text("strength"));
  }
  options.authenticate = command->has("authenticate");
  return rewrite_stream(*command, *make_encryptor(key, options));
}

}  // namespace cu264::app
