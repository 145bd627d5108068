#include "encoder/cuda/packet_copies.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "cu264/status.h"
#include "encoder/backend.h"
#include "encoder/cuda/tuned.h"

namespace cu264::encoder::cuda {
namespace {

std::uint64_t end_of(const entropy::PackedPicture& packed) {
  return packed.offset + packed.size;
}

}  // namespace

PacketCopies::PacketCopies(int pictures, int device, std::shared_ptr<PacketMemory> memory)
    : device_(device),
      memory_(std::move(memory)),
      pictures_(std::make_unique<CopiedPicture[]>(static_cast<std::size_t>(pictures))) {}

PacketCopies::~PacketCopies() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  work_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void PacketCopies::begin(const entropy::PackedPicture* pictures, int count, StreamWindow& window,
                         const Stream& download, std::size_t room, std::size_t front) {
  const std::lock_guard lock(mutex_);
  packed_ = pictures, window_ = &window, download_ = &download;
  room_ = room, front_ = front;
  count_ = count;
  claimed_ = copied_ = collected_ = 0;
  lost_ = nullptr;
  for (int i = 0; i < count; ++i) pictures_[i].done = false;
  shared_ = count >= tuned::kFewPictures && end_of(pictures[count - 1]) >= tuned::kFewBytes;
  if (!shared_) return;
  try {
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    work_.notify_one();
  } catch (const std::system_error&) {
    shared_ = false;  // the process has no more threads; one is enough
  }
}

// Pictures are claimed in order. One that is not in the window yet must be the first that is not copied,
// because only then the window's next parts can be fetched.
bool PacketCopies::may_claim() const {
  if (claimed_ == count_ || claimed_ >= collected_ + tuned::kPicturesAhead) return false;
  return claimed_ == copied_ || window_->fetches(end_of(packed_[claimed_]));
}

PacketBytes PacketCopies::next() {
  Lock lock(mutex_);
  CopiedPicture& own = pictures_[collected_++];
  while (!own.done) {
    if (may_claim()) {
      copy_next(lock);
    } else {
      lock.unlock();
      own.done.wait(false);
      lock.lock();
    }
  }
  if (shared_ && sleeps_ && claimed_ - collected_ <= tuned::kPicturesAhead / 2 && may_claim())
    work_.notify_one();
  const std::exception_ptr lost = lost_;
  lock.unlock();
  if (lost) std::rethrow_exception(lost);
  if (own.error) std::rethrow_exception(std::exchange(own.error, nullptr));
  return std::move(own.bytes);
}

void PacketCopies::copy_next(Lock& lock) {
  const int i = claimed_++;
  CopiedPicture& picture = pictures_[i];
  const bool in_window = window_->fetches(end_of(packed_[i]));
  lock.unlock();
  try {
    picture.bytes = bytes_of(packed_[i], in_window);
  } catch (...) {
    picture.error = std::current_exception();
  }
  lock.lock();
  picture.done = true;
  picture.done.notify_one();
  while (copied_ < claimed_ && pictures_[copied_].done) ++copied_;
  if (copied_ == 0 || packed_[copied_ - 1].failure != 0) return;
  try {
    window_->release(end_of(packed_[copied_ - 1]), *download_);
  } catch (...) {
    lost_ = std::current_exception();
  }
}

PacketBytes PacketCopies::bytes_of(const entropy::PackedPicture& packed, bool in_window) {
  if (packed.failure != 0) return {};
  PacketBytes owned =
      memory_->take(front_ + std::max(static_cast<std::size_t>(packed.size), room_) + kRoomForMessages);
  std::vector<std::uint8_t>& bytes = owned.vector();
  bytes.resize(front_);
  if (in_window) {
    window_->append(packed.offset, end_of(packed), bytes);
    return owned;
  }
  // All pictures before this one are copied.
  for (std::uint64_t at = packed.offset; at < end_of(packed);) {
    std::uint64_t stop = 0;
    {
      const std::lock_guard lock(mutex_);
      window_->release(at, *download_);
      stop = std::min(end_of(packed), window_->readable_from(at));
    }
    if (at >= stop) throw Error(ErrorCode::encode_failure, "the device gave sizes that do not add up");
    window_->append(at, stop, bytes);
    at = stop;
  }
  return owned;
}

void PacketCopies::run() try {
  const DeviceGuard guard(device_);
  Lock lock(mutex_);
  while (!stop_) {
    if (shared_ && may_claim()) {
      copy_next(lock);
      continue;
    }
    sleeps_ = true;
    work_.wait(lock, [this] { return stop_ || (shared_ && may_claim()); });
    sleeps_ = false;
  }
} catch (const Error&) {
  // The device is lost. The thread that collects finds that out itself.
}

}  // namespace cu264::encoder::cuda
