#include "encoder/cuda/stream_window.h"

namespace cu264::encoder::cuda {

// The byte at `at` of the stream has its place at `at` modulo the window's size.
void StreamWindow::fetch_part(std::uint64_t end, const Stream& stream) {
  const std::uint64_t part = fetched_ / part_bytes_, stop = std::min(end, (part + 1) * part_bytes_);
  check_cuda(cudaMemcpyAsync(window_ + fetched_ % (kParts * part_bytes_), d_stream_ + fetched_,
                             static_cast<std::size_t>(stop - fetched_), cudaMemcpyDeviceToHost, stream.get()),
             "copying between host and device");
  copied(part).record(stream.get());
  fetched_ = stop;
}

void StreamWindow::fetch_ahead(const Stream& stream, const Event& begun) {
  const std::uint64_t expected = stream_bytes_ + stream_bytes_ / 4, all = kParts * part_bytes_;
  const std::uint64_t end = expected == 0 ? all : std::min(expected, all);
  fetch_part(end, stream);
  begun.record(stream.get());
  while (fetched_ < end) fetch_part(end, stream);
}

void StreamWindow::fetch_first(const Stream& download) {
  const std::uint64_t end = std::min<std::uint64_t>(stream_bytes_, kParts * part_bytes_);
  // What was fetched ahead came on another stream, and copied_ must cover it too.
  if (fetched_ > 0) download.wait_for(copied((fetched_ - 1) / part_bytes_).get());
  first_ = static_cast<int>(fetched_ / part_bytes_ % kParts);
  while (fetched_ < end) fetch_part(stream_bytes_, download);
}

void StreamWindow::append(std::uint64_t from, std::uint64_t to, std::vector<std::uint8_t>& bytes) const {
  while (from < to) {
    const std::uint64_t part = from / part_bytes_, stop = std::min(to, (part + 1) * part_bytes_);
    copied(part).wait();
    const std::uint8_t* const begin = window_ + from % (kParts * part_bytes_);
    bytes.insert(bytes.end(), begin, begin + (stop - from));
    from = stop;
  }
}

void StreamWindow::release(std::uint64_t end, const Stream& download) {
  // The next part takes the place of the oldest one.
  while (fetched_ < stream_bytes_ && fetched_ + part_bytes_ <= end + kParts * part_bytes_) {
    fetch_part(stream_bytes_, download);
  }
}

}  // namespace cu264::encoder::cuda
