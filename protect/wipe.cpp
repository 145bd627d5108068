#include <cstring>

#include "protect/keys.h"

namespace cu264::protect {

void wipe(void* memory, std::size_t size) {
  explicit_bzero(memory, size);
}

}  // namespace cu264::protect
