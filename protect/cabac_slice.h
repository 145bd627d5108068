// Changes the signs of levels in CABAC slices, in the slice's own RBSP. coeff_sign_flag is a bypass bin: it
// halves the range whatever its value, so another sign moves the value of the codeword by the range and
// changes neither what follows nor the codeword's length (H.264 9.3.4.4; Shahid et al.).
#pragma once

#include <cstdint>

#include "common/bitstream/parameter_sets.h"

namespace cu264::protect {

using bitstream::Bytes;

class SignFlips {
 public:
  virtual ~SignFlips() = default;
  virtual void begin_macroblock(int address) = 0;
  // Says which of the next `count` (1..64) levels of the macroblock get another sign: bit i stands for the
  // one that is coded as number i.
  virtual std::uint64_t flips(int count) = 0;
};

struct ReadSlice {
  int next_address = 0;            // follows the slice's last macroblock
  std::uint64_t coefficients = 0;  // levels that are not zero
};

// `data_begin` is the position of slice_data(), `stop` that of the RBSP's last bit of 1.
//
// Made for hostile streams: it reads and writes nothing outside of the padded RBSP, and its time is bounded
// by the RBSP's length. Throws Error(bad_input), which names the macroblock, if the data is not a valid
// slice; the RBSP is then of no use.
ReadSlice change_signs(Bytes& rbsp, std::uint64_t data_begin, std::uint64_t stop,
                       const bitstream::ParameterSets::Active& sets, const bitstream::SliceHeader& header,
                       SignFlips& flips);

}  // namespace cu264::protect
