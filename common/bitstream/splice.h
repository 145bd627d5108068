// Writes an RBSP anew with some of its bits replaced by others, of the same length or not.
#pragma once

#include <cstdint>

#include "common/bitstream/rbsp_reader.h"
#include "core/bits.h"

namespace cu264::bitstream {

class Splice {
 public:
  // `source` is padded and must outlive this; `room` is how many bytes the result may have.
  Splice(const Bytes& source, std::size_t room) : bits_(source), out_(room), writer_(out_.data(), room) {}

  // Copies the source up to `position`.
  void copy_to(std::uint64_t position) {
    while (bits_.position() < position) {
      const std::uint64_t rest = position - bits_.position();
      const int length = rest < 32 ? static_cast<int>(rest) : 32;
      writer_.put(bits_.get(length), length);
    }
  }
  // The next `length` bits of the source are left out.
  void leave_out(std::uint64_t length) { bits_.skip(length); }
  core::BitWriter& writer() { return writer_; }

  // Copies up to the stop bit, with it, and returns the padded RBSP.
  Bytes finish(std::uint64_t stop) {
    copy_to(stop + 1);
    writer_.align_with_zeros();
    out_.resize(writer_.size());
    out_.resize(out_.size() + kRbspPadding, 0);
    return std::move(out_);
  }

 private:
  RbspReader bits_;
  Bytes out_;
  core::BitWriter writer_;
};

}  // namespace cu264::bitstream
