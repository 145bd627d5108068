#include "app/protection_values.h"

#include <cstdio>
#include <sstream>

namespace cu264::app {
namespace {
constexpr char kNames[] = "signs, suffixes, modes, codewords";
}

EncryptionParts parse_encryption_parts(const std::string& option, const std::string& list) {
  EncryptionParts parts{false, false, false, false};
  std::istringstream names(list);
  for (std::string name; std::getline(names, name, ',');) {
    if (name == "signs") {
      parts.signs = true;
    } else if (name == "modes") {
      parts.modes = true;
    } else if (name == "codewords") {
      parts.codewords = true;
    } else if (name == "suffixes") {
      parts.suffixes = true;
    } else {
      throw Error(ErrorCode::invalid_argument, "--" + option + ": there is no '" + name + "'", kNames);
    }
  }
  if (!parts.any()) throw Error(ErrorCode::invalid_argument, "--" + option + " names nothing", kNames);
  return parts;
}

EncryptionParts parse_encryption_strength(const std::string& option, const std::string& value) {
  if (value.size() != 1 || value[0] < '1' || value[0] > '3') {
    throw Error(ErrorCode::invalid_argument, "--" + option + " '" + value + "' is out of its range",
                "1 to 3");
  }
  return encryption_strength(value[0] - '0');
}

WatermarkScheme parse_watermark_scheme(const std::string& option, const std::string& name) {
  if (name == "t1-sign") return WatermarkScheme::t1_sign;
  if (name == "t1-parity") return WatermarkScheme::t1_parity;
  throw Error(ErrorCode::invalid_argument, "--" + option + ": there is no '" + name + "'",
              "t1-sign or t1-parity");
}

WatermarkSpread parse_watermark_spread(const std::string& option, const std::string& name) {
  if (name == "coded") return WatermarkSpread::coded;
  if (name == "drawn") return WatermarkSpread::drawn;
  throw Error(ErrorCode::invalid_argument, "--" + option + ": there is no '" + name + "'", "coded or drawn");
}

ProtectionKey key_of_file(const std::string& path) {
  ProtectionKey key = ProtectionKey::from_file(path);
  if (ProtectionKey::file_is_open_to_others(path)) {
    std::fprintf(stderr, "cu264: warning: %s: other users may read this key: chmod 600 it\n", path.c_str());
  }
  return key;
}

}  // namespace cu264::app
