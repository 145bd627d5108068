#include "io/damage.h"

#include "cu264/status.h"

namespace cu264::io {

void Damage::report(const std::string& what, std::int64_t picture) {
  if (count_++ == 0) first_ = what;
  if (allowed_) return;
  throw Error(ErrorCode::bad_input, file_ + ": near frame " + std::to_string(picture) + ": " + what,
              "--allow-partial encodes what can be read");
}

std::string Damage::note() const {
  if (count_ == 0) return {};
  return file_ + ": " + std::to_string(count_) +
         (count_ == 1 ? " damaged or cut-off place" : " damaged or cut-off places") + ", first: " + first_;
}

}  // namespace cu264::io
