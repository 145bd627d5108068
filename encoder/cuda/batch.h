// The batch between the stages; it lives in core/, where the entropy coder finds it too.
#pragma once

#include "core/device_batch.h"

namespace cu264::encoder::cuda {

using core::BatchView;
using core::SourcePicture;

}  // namespace cu264::encoder::cuda
