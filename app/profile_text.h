// The profile of a stream in words: what it is, and what an automatic one became.
#pragma once

#include <string>

#include "app/options.h"
#include "cu264/encoder.h"

namespace cu264::app {

// Returns what the encoder says about itself, with a reason for CAVLC that the encoder does not know.
EncoderInfo described(const EncodeOptions& options, const Encoder& encoder);

// For example "high with CABAC (nothing needs CAVLC)".
std::string profile_text(const EncoderInfo& info);

// Returns a note on an automatic profile that has CAVLC, which was not asked for; empty for others.
std::string profile_note(const EncodeOptions& options, const EncoderInfo& info);

}  // namespace cu264::app
