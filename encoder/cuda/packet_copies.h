// Copies the coded pictures of a batch out of the window into packets. A copy takes as long as everything
// else that the host does for a picture, so a second thread makes some of the copies. It goes ahead of the
// thread that collects, which copies whatever the second thread has not begun.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "common/cuda/handles.h"
#include "encoder/cuda/stream_window.h"
#include "encoder/packet_memory.h"
#include "entropy/pack/pack_batch.h"

namespace cu264::encoder::cuda {

class PacketCopies {
 public:
  // For batches of up to `pictures` pictures on `device`. Packets get their memory from `memory`.
  PacketCopies(int pictures, int device, std::shared_ptr<PacketMemory> memory);
  ~PacketCopies();
  PacketCopies(const PacketCopies&) = delete;
  PacketCopies& operator=(const PacketCopies&) = delete;

  // Begins the next batch; the previous one has been collected. The window holds the batch's stream as far as
  // it has been fetched. `pictures` lie in it one after another, without those that failed. `download`: for
  // the parts of the stream that the window does not hold yet. `room`, `front`: Pacing::packet_capacity and
  // headroom.
  void begin(const entropy::PackedPicture* pictures, int count, StreamWindow& window, const Stream& download,
             std::size_t room = 0, std::size_t front = 0);

  // Returns the bytes of the next picture, in order, after `front` free bytes; none if it failed. Waits for
  // them.
  PacketBytes next();

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct CopiedPicture {
    std::atomic<bool> done = false;
    PacketBytes bytes;
    std::exception_ptr error;
  };

  void run();
  bool may_claim() const;
  void copy_next(Lock& lock);
  PacketBytes bytes_of(const entropy::PackedPicture& packed, bool in_window);

  const int device_;
  const std::shared_ptr<PacketMemory> memory_;
  const std::unique_ptr<CopiedPicture[]> pictures_;  // of the batch
  std::mutex mutex_;                                 // guards the rest, and the window's progress
  const entropy::PackedPicture* packed_ = nullptr;
  StreamWindow* window_ = nullptr;
  const Stream* download_ = nullptr;
  std::size_t room_ = 0, front_ = 0;
  int count_ = 0;            // pictures of the batch
  int claimed_ = 0;          // those before this one are copied or being copied
  int copied_ = 0;           // those before this one are copied
  int collected_ = 0;        // those before this one were collected or are being collected
  std::exception_ptr lost_;  // the window could not be filled again
  bool shared_ = false;      // the second thread takes part in the batch
  bool sleeps_ = false;      // it waits for work
  bool stop_ = false;
  std::condition_variable work_;
  std::thread thread_;  // since the first batch in which it takes part
};

}  // namespace cu264::encoder::cuda
