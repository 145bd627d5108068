#include "encoder/cuda/stream_window.h"

#include <algorithm>

#include "cu264/status.h"

namespace cu264::encoder::cuda {

void StreamWindow::fetch_ahead(const Stream& encode) {
  const std::uint64_t expected = stream_bytes_ + stream_bytes_ / 4;
  end_ = expected == 0 ? window_bytes_ : std::min<std::uint64_t>(expected, window_bytes_);
  check_cuda(cudaMemcpyAsync(window_, d_stream_, static_cast<std::size_t>(end_), cudaMemcpyDeviceToHost,
                             encode.get()),
             "copying between host and device");
}

void StreamWindow::fetch(std::uint64_t begin, const Stream& download) {
  begin_ = begin;
  end_ = std::min<std::uint64_t>(stream_bytes_, begin + window_bytes_);
  check_cuda(cudaMemcpyAsync(window_, d_stream_ + begin, static_cast<std::size_t>(end_ - begin),
                             cudaMemcpyDeviceToHost, download.get()),
             "copying between host and device");
  downloaded_.record(download.get());
}

std::vector<std::uint8_t> StreamWindow::bytes_of(const entropy::PackedPicture& picture,
                                                 const Stream& download) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(static_cast<std::size_t>(picture.size));
  const std::uint64_t end = picture.offset + picture.size;
  for (std::uint64_t at = picture.offset; at < end;) {
    if (at >= end_) {
      fetch(at, download);
      downloaded_.wait();
      if (at >= end_) throw Error(ErrorCode::encode_failure, "the device gave sizes that do not add up");
    }
    const std::uint64_t stop = std::min(end, end_);
    bytes.insert(bytes.end(), window_ + (at - begin_), window_ + (stop - begin_));
    at = stop;
  }
  return bytes;
}

}  // namespace cu264::encoder::cuda
