// Changes the signs and suffixes of levels in CABAC slices, in the slice's own RBSP. coeff_sign_flag and the
// bits of coeff_abs_level_minus1's suffix are bypass bins: they halve the range whatever their value, so
// another value moves the codeword's value by the range and changes neither what follows nor the codeword's
// length (H.264 9.3.4.4; Shahid et al.).
#pragma once

#include <cstdint>

#include "common/bitstream/parameter_sets.h"

namespace cu264::protect {

using bitstream::Bytes;

class LevelFlips {
 public:
  virtual ~LevelFlips() = default;
  virtual void begin_macroblock(int address) = 0;
  // Says which of the next `count` (1..64) levels of the macroblock get another sign: bit i stands for the
  // one that is coded as number i.
  virtual std::uint64_t signs(int count) = 0;
  // Says whether the next suffix bit of the macroblock gets its other value. They are those that follow the
  // suffix's length, which stays (9.3.2.3).
  virtual bool suffix_bit() = 0;
};

struct ReadSlice {
  int next_address = 0;            // follows the slice's last macroblock
  std::uint64_t coefficients = 0;  // levels that are not zero
  std::uint64_t suffix_bits = 0;
};

// `data_begin` is the position of slice_data(), `stop` that of the RBSP's last bit of 1.
//
// Made for hostile streams: it reads and writes nothing outside of the padded RBSP, and its time is bounded
// by the RBSP's length. Throws Error(bad_input), which names the macroblock, if the data is not a valid
// slice; the RBSP is then of no use.
ReadSlice change_levels(Bytes& rbsp, std::uint64_t data_begin, std::uint64_t stop,
                        const bitstream::ParameterSets::Active& sets, const bitstream::SliceHeader& header,
                        LevelFlips& flips);

}  // namespace cu264::protect
