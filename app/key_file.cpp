#include "app/key_file.h"

#include <cstdio>

namespace cu264::app {

ProtectionKey key_of_file(const std::string& path) {
  ProtectionKey key = ProtectionKey::from_file(path);
  if (ProtectionKey::file_is_open_to_others(path)) {
    std::fprintf(stderr, "cu264: warning: %s: other users may read this key: chmod 600 it\n", path.c_str());
  }
  return key;
}

}  // namespace cu264::app
