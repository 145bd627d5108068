// Cases drawn at random for random_parity: what an encoder is opened with, what pictures it gets, and what is
// done to it meanwhile. A case follows from its seed and its number alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cu264/encoder.h"
#include "cu264/stream_group.h"
#include "support/picture.h"

namespace cu264::parity {

// What cases may ask for. Where kernels run on the processor, pictures have to be tiny.
struct CaseBounds {
  int most_width = 320;
  int most_height = 260;
  int most_pictures = 20;   // of a clip
  int most_streams = 24;    // of a group
  bool large_sides = true;  // whether now and then a picture is much larger
  int devices = 1;          // that there are
  bool pipeline = false;    // whether all cases have the published pipeline
  bool gops = false;        // whether all cases have P pictures
};

struct RandomClip {
  ConfigChanges before;                 // made before its first frame; the size is always set
  std::vector<test::Picture> pictures;  // frame i has picture i % pictures.size()
  int frames = 0;
  std::map<int, ConfigChanges> changes;  // by frame: made before it is sent
  std::map<int, int> qps;                // by frame: Frame::qp
  std::map<int, bool> drains;            // by frame: after it was sent
  std::map<int, bool> keys;              // by frame: Frame::key
};

// How the frames of a stream lie in memory, and who writes them.
struct FramePlacement {
  PixelFormat format = PixelFormat::i420;
  int padding = 0;  // bytes at the end of each row
  bool bottom_up = false;
  MemoryKind memory = MemoryKind::host;  // of the CUDA backend; the CPU backend gets host memory
  // A kernel that takes its time writes frames in device memory while they are sent already.
  bool written_late = false;
  enum class Stream { null, legacy, per_thread, blocking, non_blocking } stream = Stream::null;
};

struct RandomCase {
  std::uint64_t seed = 0;
  int number = 0;
  Config config;  // `backend` is set by whoever runs it
  FramePlacement placement;
  std::vector<RandomClip> clips;

  // In one line, for whoever looks for the cause of a difference.
  std::string text() const;
};

// Streams of a group, which several threads serve.
struct RandomGroup {
  std::uint64_t seed = 0;
  int number = 0;
  StreamGroupConfig config;
  int threads = 1;
  std::vector<RandomCase> streams;
};

RandomCase make_case(std::uint64_t seed, int number, const CaseBounds& bounds);
RandomGroup make_group(std::uint64_t seed, int number, const CaseBounds& bounds);

}  // namespace cu264::parity
