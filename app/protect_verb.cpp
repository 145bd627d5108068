// cu264 protect encrypt|decrypt|new-key: encrypts a finished stream selectively, decrypts it, and makes keys.
#include "app/protection_values.h"
#include "app/stream_command.h"
#include "app/verbs.h"

namespace cu264::app {
namespace {

namespace po = boost::program_options;

constexpr char kHelp[] =
    "cu264 protect encrypt INPUT -o OUTPUT [--key-file KEY] [options]\n"
    "cu264 protect decrypt INPUT -o OUTPUT [--key-file KEY] [--require-authentication]\n"
    "cu264 protect new-key FILE\n"
    "\n"
    "Encrypts parts of an all-intra CAVLC H.264 stream so that it still decodes, to noise; decrypting gives "
    "the\n"
    "stream back byte for byte. INPUT is a bare stream (.264) or an .mp4 .mov .mkv .ts, whose other streams "
    "are\n"
    "copied.\n"
    "\n"
    "  --key-file KEY     32 bytes, or 64 hexadecimal digits; without it, CU264_KEY in the environment\n"
    "  --threads N        that work on the pictures of a bare stream (one a core)\n"
    "  --parts LIST       of signs, modes, codewords (signs)\n"
    "  --strength N       1: signs; 2: signs,modes; 3: all\n"
    "  --authenticate     codes tell when pictures, their order or their number were changed\n"
    "  --require-authentication  refuse a stream without them\n"
    "\n"
    "new-key makes a key in a file that only its owner may read. It never overwrites a file.\n"
    "\n"
    "What this protects and what it does not: docs/protection.md\n";

ExitCode new_key(const std::vector<std::string>& arguments) {
  if (arguments.size() == 1 && (arguments[0] == "--help" || arguments[0] == "-h")) {
    return std::fputs(kHelp, stdout), ExitCode::done;
  }
  if (arguments.size() != 1 || arguments[0].empty() || arguments[0][0] == '-') {
    throw Error(ErrorCode::invalid_argument, "new-key takes the name of one file",
                "cu264 protect new-key FILE");
  }
  ProtectionKey::random().write_new_file(arguments[0]);
  return ExitCode::done;
}

}  // namespace

ExitCode protect_verb(const std::vector<std::string>& arguments) {
  const std::string what = arguments.empty() ? "" : arguments[0];
  if (what == "--help" || what == "-h") return std::fputs(kHelp, stdout), ExitCode::done;
  if (what == "new-key") return new_key({arguments.begin() + 1, arguments.end()});
  if (what != "encrypt" && what != "decrypt") {
    throw Error(ErrorCode::invalid_argument, "protect does no '" + what + "'", "encrypt, decrypt or new-key");
  }
  po::options_description own;
  if (what == "encrypt") {
    own.add_options()("parts", po::value<std::string>());
    own.add_options()("strength", po::value<std::string>());
    own.add_options()("authenticate", "");
  } else {
    own.add_options()("require-authentication", "");
  }
  const auto command = parse_stream_command("protect", {arguments.begin() + 1, arguments.end()}, own, kHelp);
  if (!command) return ExitCode::done;
  const ProtectionKey key = command->key();
  if (what == "decrypt") {
    return rewrite_stream(*command, *make_decryptor(key, {command->has("require-authentication")}));
  }
  EncryptionOptions options;
  if (command->has("parts") && command->has("strength")) {
    throw Error(ErrorCode::invalid_argument, "--parts and --strength say the same", "give one of them");
  }
  if (command->has("parts")) options.parts = parse_encryption_parts("parts", command->text("parts"));
  if (command->has("strength")) {
    options.parts = parse_encryption_strength("strength", command->text("strength"));
  }
  options.authenticate = command->has("authenticate");
  return rewrite_stream(*command, *make_encryptor(key, options));
}

}  // namespace cu264::app
