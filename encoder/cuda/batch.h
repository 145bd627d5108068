// The batch that the stages share. It is defined in core/ because the entropy coder uses it too.
#pragma once

#include "core/device_batch.h"

namespace cu264::encoder::cuda {

using core::BatchView;
using core::SourcePicture;

}  // namespace cu264::encoder::cuda
