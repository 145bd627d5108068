// Checks of a frame before it is given to a backend.
#pragma once

#include <cstdint>
#include <optional>

#include "cu264/encoder.h"

namespace cu264::encoder {

// `format` is the format of all frames, if Config or an earlier frame has determined it. Throws an
// Error(bad_input, invalid_argument or unsupported) that names the frame by its index.
void check_frame(const Frame& frame, const Config& config, std::optional<PixelFormat> format,
                 bool reads_device_memory, std::uint64_t index);

}  // namespace cu264::encoder
