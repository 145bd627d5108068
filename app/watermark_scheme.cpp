#include "app/watermark_scheme.h"

namespace cu264::app {

WatermarkScheme parse_watermark_scheme(const std::string& option, const std::string& name) {
  if (name == "t1-sign") return WatermarkScheme::t1_sign;
  if (name == "t1-parity") return WatermarkScheme::t1_parity;
  throw Error(ErrorCode::invalid_argument, "--" + option + ": there is no '" + name + "'",
              "t1-sign or t1-parity");
}

}  // namespace cu264::app
