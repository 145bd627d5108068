// Checks of a StreamGroup that hold on every backend.
#pragma once

#include "cu264/stream_group.h"

namespace cu264::test {

// Opens streams of different sizes, QPs, presets, headers and formats, one of them encrypted and one marked,
// sends their pictures in turn from one thread, and compares them with encoders of their own.
void expect_streams_as_alone(const StreamGroupConfig& config, int pictures);

// The same with a thread that sends and one that receives for each stream; streams are opened and closed
// meanwhile.
void expect_threads_as_alone(const StreamGroupConfig& config, int pictures);

// Several clips one after another in one stream, beside another stream.
void expect_clips_as_alone(const StreamGroupConfig& config);

// While one stream always has pictures waiting, the others get their packets.
void expect_fairness(const StreamGroupConfig& config);

// Frames that cannot be encoded are refused, and calls that cannot be answered; everything else goes on.
void expect_bad_frames_refused(const StreamGroupConfig& config);

// Closes streams and the group while pictures are at every stage. `seed` chooses when.
void tear_down_under_load(const StreamGroupConfig& config, int seed);

}  // namespace cu264::test
