#include "encoder/cuda/stream_window.h"

#include <algorithm>

#include "cu264/status.h"
#include "encoder/stages.h"

namespace cu264::encoder::cuda {

// The byte at `at` of the stream has its place at `at` modulo the window's size.
void StreamWindow::fetch_ahead(const Stream& encode) {
  const std::uint64_t expected = stream_bytes_ + stream_bytes_ / 4, window_bytes = 2 * half_bytes_;
  fetched_ = expected == 0 ? window_bytes : std::min<std::uint64_t>(expected, window_bytes);
  check_cuda(cudaMemcpyAsync(window_, d_stream_, static_cast<std::size_t>(fetched_), cudaMemcpyDeviceToHost,
                             encode.get()),
             "copying between host and device");
}

void StreamWindow::fetch_part(const Stream& download) {
  const std::uint64_t part = fetched_ / half_bytes_;
  const std::uint64_t end = std::min<std::uint64_t>(stream_bytes_, (part + 1) * half_bytes_);
  check_cuda(
      cudaMemcpyAsync(window_ + fetched_ % (2 * half_bytes_), d_stream_ + fetched_,
                      static_cast<std::size_t>(end - fetched_), cudaMemcpyDeviceToHost, download.get()),
      "copying between host and device");
  copied_[part % 2].record(download.get());
  fetched_ = end;
}

void StreamWindow::fetch_first(const Stream& download) {
  first_ = static_cast<int>(fetched_ / half_bytes_ % 2);
  while (fetched_ < std::min<std::uint64_t>(stream_bytes_, 2 * half_bytes_)) fetch_part(download);
}

std::vector<std::uint8_t> StreamWindow::bytes_of(const entropy::PackedPicture& picture,
                                                 const Stream& download) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(static_cast<std::size_t>(picture.size) + kRoomForMessages);
  const std::uint64_t end = picture.offset + picture.size;
  for (std::uint64_t at = picture.offset; at < end;) {
    if (at >= fetched_) throw Error(ErrorCode::encode_failure, "the device gave sizes that do not add up");
    const std::uint64_t part = at / half_bytes_, end_of_part = (part + 1) * half_bytes_;
    copied_[part % 2].wait();
    const std::uint64_t stop = std::min({end, end_of_part, fetched_});
    const std::uint8_t* const from = window_ + at % (2 * half_bytes_);
    bytes.insert(bytes.end(), from, from + (stop - at));
    at = stop;
    const bool half_read = at == end_of_part;
    if (half_read && fetched_ >= end_of_part + half_bytes_ && fetched_ < stream_bytes_) fetch_part(download);
  }
  return bytes;
}

}  // namespace cu264::encoder::cuda
