// Coded pictures are copied out of a small window by two threads, whatever their sizes and whoever is
// quicker.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "common/cuda/handles.h"
#include "encoder/cuda/packet_copies.h"
#include "support/device_array.cuh"
#include "tests/parity/device_test.h"

namespace cu264::encoder::cuda {
namespace {

using test::DeviceArray;
using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kWindowBytes = 1 << 17;

struct Coded {
  std::vector<entropy::PackedPicture> pictures;
  Bytes stream;
};

class PacketCopiesParity : public parity::DeviceTest {};

// One picture in eight failed, and one in ten does not fit the window.
Coded coded_batch(int pictures, std::size_t most_bytes, std::mt19937& random) {
  Coded coded;
  for (int i = 0; i < pictures; ++i) {
    entropy::PackedPicture& picture = coded.pictures.emplace_back();
    picture.offset = coded.stream.size();
    picture.size = random() % 10 == 0 ? kWindowBytes + random() % kWindowBytes : 1 + random() % most_bytes;
    picture.failure = random() % 8 == 0;
    coded.stream.resize(coded.stream.size() + picture.size);
  }
  for (std::uint8_t& byte : coded.stream) byte = static_cast<std::uint8_t>(random());
  return coded;
}

void expect_copies(const Coded& coded, bool ahead, bool slow, PacketCopies& copies, StreamWindow& window,
                   const Stream& download) {
  const Stream other;
  const Event begun;
  window.reset();
  if (ahead) window.fetch_ahead(other, begun);
  window.set_size(coded.stream.size());
  if (!window.fetches(coded.stream.size())) window.fetch_first(download);
  if (ahead) begun.wait();
  copies.begin(coded.pictures.data(), static_cast<int>(coded.pictures.size()), window, download);
  for (const entropy::PackedPicture& picture : coded.pictures) {
    const auto from = coded.stream.begin() + static_cast<std::ptrdiff_t>(picture.offset);
    const Bytes expected =
        picture.failure != 0 ? Bytes() : Bytes(from, from + static_cast<std::ptrdiff_t>(picture.size));
    PacketBytes own = copies.next();
    EXPECT_EQ(own.vector(), expected) << "at " << picture.offset;
    if (slow) std::this_thread::sleep_for(std::chrono::microseconds(300));
  }
}

TEST_F(PacketCopiesParity, AreWhatIsInTheStream) {
  constexpr int kMax = 40;
  std::mt19937 random(7);
  const PinnedAllocation pinned = allocate_pinned(kWindowBytes);
  const Stream download;
  const auto memory = std::make_shared<PacketMemory>();
  for (int round = 0; round < 8; ++round) {
    PacketCopies copies(kMax, 0, memory);
    for (int batch = 0; batch < 3; ++batch) {
      const int pictures = 1 + static_cast<int>(random() % kMax);
      Coded coded = coded_batch(pictures, round % 2 == 0 ? 90000 : 5000, random);
      // The window reads ahead of what was written.
      coded.stream.resize(std::max(coded.stream.size(), kWindowBytes));
      const DeviceArray<std::uint8_t> d_stream(coded.stream);
      StreamWindow window(d_stream.data(), static_cast<std::uint8_t*>(pinned.get()), kWindowBytes,
                          round % 3 == 0);
      expect_copies(coded, round % 4 < 2, batch == 2, copies, window, download);
    }
  }
}

// The owner of a batch may give it up before all of it was collected.
TEST_F(PacketCopiesParity, EndAtAnyTime) {
  std::mt19937 random(8);
  const Coded coded = coded_batch(30, 200000, random);
  const DeviceArray<std::uint8_t> d_stream(coded.stream);
  const PinnedAllocation pinned = allocate_pinned(kWindowBytes);
  const Stream download;
  for (int collected = 0; collected < 30; collected += 3) {
    StreamWindow window(d_stream.data(), static_cast<std::uint8_t*>(pinned.get()), kWindowBytes, true);
    PacketCopies copies(30, 0, std::make_shared<PacketMemory>());
    window.set_size(coded.stream.size());
    window.fetch_first(download);
    copies.begin(coded.pictures.data(), 30, window, download);
    for (int i = 0; i < collected; ++i) {
      EXPECT_EQ(copies.next().size(), coded.pictures[static_cast<std::size_t>(i)].failure != 0
                                          ? 0
                                          : coded.pictures[static_cast<std::size_t>(i)].size);
    }
  }
  check_cuda(cudaStreamSynchronize(download.get()), "waiting");
}

}  // namespace
}  // namespace cu264::encoder::cuda
