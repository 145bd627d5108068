// Checks that a written file decodes to what the encoder says a decoder shows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/output_container.h"

namespace cu264::io {

// Reads the file back, decodes it with libavcodec and compares each picture with its reconstruction's
// hash_planar(). Throws Error(verify_failure), which names the first picture that differs. `name` stands for
// the file in messages.
void verify_file(const std::string& path, const std::string& name, Container container, int width, int height,
                 const std::vector<std::uint64_t>& hashes);

}  // namespace cu264::io
