// What a Config asks of rate control, for reports.
#pragma once

#include <string>

#include "cu264/encoder.h"
#include "io/statistics.h"

namespace cu264::app {

// Whether the encoder chooses QPs.
bool controls_rate(const Config& config);

// Whether a picture may be one that no QP makes small enough.
bool limits_pictures(const Config& config);

// Such as "qp 27", "crf 23" or "2000 kb/s, buffer of 2000 kb, cbr".
std::string rate_text(const Config& config);

// Adds to the settings of --stats what is set of rate control; rates and sizes are in bits, limits in bytes.
void add_rate(const Config& config, io::Json& settings);

}  // namespace cu264::app
