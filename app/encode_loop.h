// Reading, encoding and writing at the same time: a thread reads ahead, the encoder works behind send().
#pragma once

#include <atomic>

#include "app/encode_outputs.h"
#include "cu264/encoder.h"
#include "io/reader.h"

namespace cu264::app {

// Encodes all of `reader`. Ends early when interrupted(), with every picture sent written; `stop_reading` is
// the flag that `reader` was opened with. Returns the number of pictures.
std::int64_t encode_all(io::Reader& reader, Encoder& encoder, EncodeOutputs& outputs,
                        std::atomic<bool>& stop_reading);

}  // namespace cu264::app
