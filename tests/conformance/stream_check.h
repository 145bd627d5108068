// Checks what must hold for every stream, whatever its content.
#pragma once

#include <string>
#include <vector>

#include "support/encode.h"
#include "tests/support/stream_walk.h"

namespace cu264::test {

// Adds a failure for each rule that the stream breaks: libavcodec decodes it without a message to exactly the
// reconstructions, the parser accepts it down to the last level, and the statistics agree with its content.
// Returns the parser's result.
WalkedStream check_stream(const Config& config, const EncodedStream& stream,
                          const std::vector<Picture>& sources);

// The part of that which libavcodec says, for streams with other NAL units than the parser takes.
void check_decoded(const Config& config, const EncodedStream& stream);

// Describes the first difference by plane, position and values; empty if there is none.
std::string difference(const Picture& expected, const Picture& actual);

// The largest mean squared error of the three planes, and the largest that a quantiser of the step of `qp`
// may cause by losing every coefficient that is smaller than the step.
double worst_squared_error(const Picture& source, const Picture& reconstruction);
double squared_error_bound(int qp);

// The source padded to even sides by replication, as it is coded.
Picture widened(const Picture& source);

Config make_config(int qp, Preset preset, int slices = 1, bool deblock = true);
const char* name_of(Preset preset);

inline constexpr Preset kPresets[] = {Preset::fast, Preset::balanced, Preset::best};

}  // namespace cu264::test
