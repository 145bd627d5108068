// Several devices that share out the GOPs of streams with P pictures. A GOP stays on its device, because its
// pictures are predicted from each other; the next one of the stream goes to the next device.
#pragma once

#include <memory>
#include <vector>

#include "encoder/backend.h"

namespace cu264::encoder::cuda {

// There is a member for each device, and all are of the same capacity.
std::unique_ptr<Backend> make_gop_group(std::vector<std::unique_ptr<Backend>> members);

}  // namespace cu264::encoder::cuda
