// The names of Config::edge_detector's thresholds, as --edge-thresholds takes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cu264/canny.h"

namespace cu264::encoder {

// Returns nothing for a text that is not understood.
std::optional<canny::Params> edge_detector_named(std::string_view text);

// Says what edge_detector_named() understands.
std::string edge_thresholds_accepted();

// The text that edge_detector_named() takes, or "custom" if there is none.
std::string edge_thresholds_text(const canny::Params& params);

}  // namespace cu264::encoder
