// The sample table of a track: when its samples are shown, how large they are and where they lie (ISO/IEC
// 14496-12, 8.6 and 8.7).
// The list of sync samples names the IDR pictures. Where all pictures are IDR pictures there is none: every
// sample is then a sync sample (8.6.2.1).
#pragma once

#include <cstdint>

#include "io/mp4/box_writer.h"
#include "io/mp4/track.h"

namespace cu264::mp4 {

// stts, stss if it is needed, stsc, stsz, and stco or co64 (`wide`); `base` is the file offset of the
// samples.
void write_sample_table(BoxWriter& w, const Track& track, std::uint64_t base, bool wide);

// Says that a decoder of Opus has to start 80 ms before the sample that it seeks to.
void write_opus_roll(BoxWriter& w, const Track& track);

}  // namespace cu264::mp4
