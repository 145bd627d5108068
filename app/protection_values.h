// Values of the protection options: parts, strength, scheme and key file.
#pragma once

#include <string>

#include "cu264/protect.h"

namespace cu264::app {

// Parses "signs,suffixes,modes,codewords" or some of these words. The Error(invalid_argument) for anything
// else names `option`.
EncryptionParts parse_encryption_parts(const std::string& option, const std::string& list);
// Parses 1, 2 or 3, as encryption_strength() takes it.
EncryptionParts parse_encryption_strength(const std::string& option, const std::string& value);

// Parses "t1-sign" or "t1-parity". The Error(invalid_argument) for anything else names `option`.
WatermarkScheme parse_watermark_scheme(const std::string& option, const std::string& name);
WatermarkSpread parse_watermark_spread(const std::string& option, const std::string& name);

// Reads the key, and warns if other users may read or change the file.
ProtectionKey key_of_file(const std::string& path);

}  // namespace cu264::app
