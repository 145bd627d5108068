// The schemes of watermarks, as command lines name them.
#pragma once

#include <string>

#include "cu264/protect.h"

namespace cu264::app {

// "t1-sign" or "t1-parity"; `option` is named in the Error(invalid_argument) of anything else.
WatermarkScheme parse_watermark_scheme(const std::string& option, const std::string& name);

}  // namespace cu264::app
