// How many pictures are encoded together, and how many batches side by side.
#pragma once

#include <cstddef>

#include "encoder/stream_params.h"

namespace cu264::encoder::cuda {

// The number of pictures that fill the device without taking more than half of its free memory.
int pictures_of_device(const StreamParams& params, int multiprocessors, std::size_t free_bytes);

// Returns into how many backends an encoder divides its work on a device. Batches that do not fill a large
// device are encoded side by side.
int overlapping_batches(const StreamParams& params, int batch);

}  // namespace cu264::encoder::cuda
