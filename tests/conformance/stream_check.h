// What must hold of every stream, whatever is in it.
#pragma once

#include <string>
#include <vector>

#include "support/encode.h"
#include "tests/support/stream_walk.h"

namespace cu264::test {

// Adds a failure for each rule that the stream breaks: libavcodec decodes it without a word to exactly the
// reconstructions; the parser accepts it down to its last level; the statistics are what is in it. Gives back
// what the parser saw.
WalkedStream check_stream(const Config& config, const EncodedStream& stream,
                          const std::vector<Picture>& sources);

// "" if equal, or the first difference: plane, position and values.
std::string difference(const Picture& expected, const Picture& actual);

// The largest mean squared error of the three planes, and what a quantiser of that step may do at most: lose
// every coefficient that is smaller than the step.
double worst_squared_error(const Picture& source, const Picture& reconstruction);
double squared_error_bound(int qp);

// The source widened to even sides by replication, as it is coded.
Picture widened(const Picture& source);

Config make_config(int qp, Preset preset, int slices = 1, bool deblock = true);
const char* name_of(Preset preset);

inline constexpr Preset kPresets[] = {Preset::fast, Preset::balanced, Preset::best};

}  // namespace cu264::test
