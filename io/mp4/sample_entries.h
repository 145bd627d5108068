// The sample descriptions of a track: what a decoder has to know before the first sample.
#pragma once

#include "cu264/mp4.h"
#include "io/mp4/avc_stream.h"
#include "io/mp4/box_writer.h"
#include "io/mp4/track.h"

namespace cu264::mp4 {

// avc1 with avcC, and colr, pasp and btrt where there is something to say.
void write_video_entry(BoxWriter& w, const AvcStream& video, const Track& track);
// mp4a with esds, or Opus with dOps.
void write_audio_entry(BoxWriter& w, const Mp4Audio& audio);

// Throws Error(invalid_argument) for a description that write_audio_entry could not write.
void check_audio(const Mp4Audio& audio);

}  // namespace cu264::mp4
