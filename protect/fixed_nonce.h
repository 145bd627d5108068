// A nonce that is fixed, for tests that compare encrypted streams byte by byte and for nothing else: two
// streams with the same nonce under one key give each other away.
#pragma once

#include <cstdint>

namespace cu264::protect {

// As long as it lives, every nonce that this thread draws is `nonce`.
class FixedNonce {
 public:
  explicit FixedNonce(std::uint64_t nonce);
  ~FixedNonce();
  FixedNonce(const FixedNonce&) = delete;
  FixedNonce& operator=(const FixedNonce&) = delete;
};

}  // namespace cu264::protect
