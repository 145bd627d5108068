// What a frame must satisfy before a backend sees it.
#pragma once

#include <cstdint>
#include <optional>

#include "cu264/encoder.h"

namespace cu264::encoder {

// `format` is that of the frames before, if there were any or the Config names it. Throws Error(bad_input,
// invalid_argument or unsupported) that names the frame by its index.
void check_frame(const Frame& frame, const Config& config, std::optional<PixelFormat> format,
                 bool reads_device_memory, std::uint64_t index);

}  // namespace cu264::encoder
