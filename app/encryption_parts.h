// What is to be encrypted, as command lines name it.
#pragma once

#include <string>

#include "cu264/protect.h"

namespace cu264::app {

// "signs,modes,codewords" or some of them; `option` is named in the Error(invalid_argument) of anything else.
EncryptionParts parse_encryption_parts(const std::string& option, const std::string& list);
// 1, 2 or 3, as encryption_strength() has it.
EncryptionParts parse_encryption_strength(const std::string& option, const std::string& value);

}  // namespace cu264::app
