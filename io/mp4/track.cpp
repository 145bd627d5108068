#include "io/mp4/track.h"

#include <cstdint>
#include <limits>
#include <string>

#include "cu264/status.h"

namespace cu264::mp4 {
namespace {

// Ticks are at least this fine, so that they can express times of other tracks too.
constexpr std::int64_t kTicksASecond = 10000;

[[noreturn]] void refuse(const char* name, const std::string& cause, const std::string& remedy) {
  throw Error(ErrorCode::bad_input, std::string(name) + ": " + cause, remedy);
}

}  // namespace

Track::Track(const char* name, Rational time_base) : name_(name) {
  if (time_base.num <= 0 || time_base.den <= 0) {
    throw Error(ErrorCode::invalid_argument, std::string(name) + ": the time base is not positive",
                "use the seconds that a unit lasts, such as 1/25");
  }
  std::int64_t scale = 1;
  while (scale * time_base.den < kTicksASecond) scale *= 2;
  timescale_ = static_cast<std::uint32_t>(scale * time_base.den);
  unit_ = scale * time_base.num;
}

std::int64_t Track::ticks(std::int64_t units) const {
  std::int64_t result = 0;
  // A bit is left, so that differences of two times fit too.
  if (__builtin_mul_overflow(units, unit_, &result) ||
      result > std::numeric_limits<std::int64_t>::max() / 2 ||
      result < std::numeric_limits<std::int64_t>::min() / 2) {
    refuse(name_, "the time " + std::to_string(units) + " is too large", "use smaller time stamps");
  }
  return result;
}

void Track::add(std::size_t size, std::int64_t pts, std::int64_t duration, std::uint64_t offset, bool sync) {
  constexpr std::int64_t kMax = std::numeric_limits<std::uint32_t>::max();
  const std::int64_t at = ticks(pts), length = ticks(duration);
  if (length <= 0 || length > kMax)
    refuse(name_, "a duration of " + std::to_string(duration), "use a positive one of less than 2^32 ticks");
  if (size > std::numeric_limits<std::uint32_t>::max())
    refuse(name_, "a sample of 4 GiB or more", "split it");
  if (!empty_ && at <= last_) {
    refuse(name_, "pts " + std::to_string(pts) + " is not after the previous one", "let pts increase");
  }
  if (!samples_.empty()) {
    if (at - last_ > kMax) refuse(name_, "a gap of 2^32 ticks or more", "use a coarser time base");
    samples_.back().duration = static_cast<std::uint32_t>(at - last_);
  } else {
    begin_ = at;
  }
  if (empty_) first_ = at, empty_ = false;
  // A chunk is what a player reads at once: about a second, as ISO/IEC 14496-12 recommends for interleaving.
  if (chunks_.empty() || offset != next_offset_ || at - chunk_begin_ >= timescale_) {
    chunks_.push_back({offset, 0});
    chunk_begin_ = at;
  }
  ++chunks_.back().samples;
  samples_.push_back({static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(length), sync});
  all_sync_ = all_sync_ && sync;
  next_offset_ = offset + size;
  last_ = at, end_ = at + length;
  bytes_ += size;
}

void Track::begin_fragment() {
  samples_.clear();
  chunks_.clear();
  all_sync_ = true;
  begin_ = end_;
  bytes_ = 0;
}

}  // namespace cu264::mp4
