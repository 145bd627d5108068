// When a frame in device memory has been written: a value that goes with the frame, from whoever took it from
// its caller to whoever reads it.
#pragma once

#include <memory>

namespace cu264::encoder {

namespace cuda {
class Mark;  // encoder/cuda/mark.h
}

// Null for frames in host memory, which have been written when they are sent.
using Written = std::shared_ptr<const cuda::Mark>;

}  // namespace cu264::encoder
