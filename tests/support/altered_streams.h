// Streams as somebody without the key might change them: bits, bytes and NAL units are changed, removed,
// repeated, moved, exchanged, inserted and cut off. The same seed gives the same changes on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cu264::test {

using ByteVector = std::vector<std::uint8_t>;

struct Alteration {
  ByteVector stream;
  std::string what;  // tells what was done
};

// Makes one to three changes to `stream`. Units to insert are made, or come from `others`.
Alteration altered(const ByteVector& stream, const std::vector<ByteVector>& others, std::uint32_t seed);

// Inserts up to `most` units where they harm nothing or where only some decoders are confused: a stream that
// an encoder might have made.
ByteVector enriched(const ByteVector& stream, const std::vector<ByteVector>& others, int most,
                    std::uint32_t seed);

}  // namespace cu264::test
