// Reads, encodes and writes at the same time: a thread reads ahead, and the encoder works while send()
// returns.
#pragma once

#include <atomic>
#include <cstdint>

#include "app/encode_outputs.h"
#include "app/option_files.h"
#include "app/size_plan.h"
#include "cu264/encoder.h"
#include "io/reader.h"

namespace cu264::app {

// Encodes everything that `reader` gives. If interrupted(), it ends early, after writing every picture that
// was sent. `stop_reading` is the flag that `reader` was opened with, and `requests` are what single
// pictures are to be. `plan` decides the crf if it is not null. Returns the number of pictures that
// were read.
std::int64_t encode_all(io::Reader& reader, Encoder& encoder, EncodeOutputs& outputs,
                        std::atomic<bool>& stop_reading, const PictureRequests& requests, SizePlan* plan);

}  // namespace cu264::app
