// Pictures of a raw I420 file after stage `reconstruct`, the input of the entropy coder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "encoder/cpu_picture.h"

namespace cu264::bench {

// Codes the file's frames, at most `most` of them, with the fastest preset of the CPU backend. Throws
// std::runtime_error.
std::vector<encoder::CpuPicture> coded_clip(const std::string& path, int width, int height, int qp,
                                            std::size_t most = SIZE_MAX);

}  // namespace cu264::bench
