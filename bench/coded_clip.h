// Pictures of a raw I420 file after `reconstruct`, as the entropy coder finds them.
#pragma once

#include <string>
#include <vector>

#include "encoder/cpu_picture.h"

namespace cu264::bench {

// The file's frames, coded by the CPU backend's fastest preset. Throws std::runtime_error.
std::vector<encoder::CpuPicture> coded_clip(const std::string& path, int width, int height, int qp);

}  // namespace cu264::bench
