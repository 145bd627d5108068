#include "io/access_unit_reader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "cu264/status.h"

namespace cu264::io {
namespace {

constexpr std::size_t kPartBytes = std::size_t{8} << 20;
constexpr std::size_t kMaxAccessUnitBytes = std::size_t{256} << 20;

// These begin an access unit if they follow the slices of a picture (H.264 7.4.1.2.3).
bool opens_access_unit(int nal_unit_type) {
  return (nal_unit_type >= 6 && nal_unit_type <= 9) || (nal_unit_type >= 14 && nal_unit_type <= 18);
}

bool is_slice(int nal_unit_type) {
  return nal_unit_type == 1 || nal_unit_type == 2 || nal_unit_type == 5;
}

}  // namespace

AccessUnitReader::AccessUnitReader(InputFile& file, std::function<bool()> stop)
    : file_(file), stop_(std::move(stop)), buffer_(kPartBytes) {}

std::span<const std::uint8_t> AccessUnitReader::next() {
  forget_handed_out();
  while (!at_end_) {
    fill();
    find_boundaries();
    if (boundary_ > 0) return {buffer_.data(), handed_out_ = boundary_};
    if (at_end_) break;
    if (buffer_.size() >= kMaxAccessUnitBytes) {
      throw Error(ErrorCode::bad_input, file_.name() + ": an access unit is larger than 256 MiB",
                  "an H.264 byte stream is needed");
    }
    buffer_.resize(2 * buffer_.size());
  }
  return {buffer_.data(), handed_out_ = size_};
}

void AccessUnitReader::forget_handed_out() {
  std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(handed_out_),
            buffer_.begin() + static_cast<std::ptrdiff_t>(size_), buffer_.begin());
  size_ -= handed_out_;
  searched_ -= std::min(searched_, handed_out_);
  handed_out_ = boundary_ = 0;
}

void AccessUnitReader::fill() {
  const std::size_t wanted = buffer_.size() - size_;
  const std::size_t got = file_.read({buffer_.data() + size_, wanted}, stop_);
  size_ += got;
  at_end_ = got < wanted;
}

void AccessUnitReader::find_boundaries() {
  // This covers a start code, the NAL unit's header, and the byte in which a slice says first_mb_in_slice.
  constexpr std::size_t kSeen = 5;
  std::size_t at = searched_;
  while (at + kSeen <= size_) {
    if (buffer_[at + 2] > 1) {
      at += 3;
    } else if (buffer_[at] != 0 || buffer_[at + 1] != 0 || buffer_[at + 2] != 1) {
      at += 1;
    } else {
      if (begins_access_unit(at + 3)) {
        // Zero bytes before a start code belong to it.
        for (boundary_ = at; boundary_ > 0 && buffer_[boundary_ - 1] == 0;) --boundary_;
      }
      at += 3;
    }
  }
  searched_ = at;
}

// Looks at the NAL unit whose header is at this position; it is the next one after those already looked at.
bool AccessUnitReader::begins_access_unit(std::size_t header) {
  const int type = buffer_[header] & 31;
  if (is_slice(type)) {
    const bool first_of_picture = (buffer_[header + 1] & 0x80) != 0;  // first_mb_in_slice is 0: ue(v) '1'
    return std::exchange(has_slice_, true) && first_of_picture;
  }
  return opens_access_unit(type) && std::exchange(has_slice_, false);
}

}  // namespace cu264::io
