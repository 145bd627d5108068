#include "app/profile_text.h"

namespace cu264::app {

EncoderInfo described(const EncodeOptions& options, const Encoder& encoder) {
  EncoderInfo info = encoder.info();
  if (!options.cavlc_for.empty()) info.profile_reason = options.cavlc_for + " needs CAVLC";
  return info;
}

std::string profile_text(const EncoderInfo& info) {
  return info.profile + " with " + (info.cabac ? "CABAC" : "CAVLC") + " (" + info.profile_reason + ")";
}

std::string profile_note(const EncodeOptions& options, const EncoderInfo& info) {
  const bool asked = options.config.cavlc && options.cavlc_for.empty();
  if (options.config.profile != Profile::automatic || info.cabac || asked) return {};
  return "the profile is " + profile_text(info);
}

}  // namespace cu264::app
