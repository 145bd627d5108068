// A track's samples: their sizes, their times in the track's own ticks, and the chunks that they lie in.
#pragma once

#include <cstdint>
#include <vector>

#include "cu264/encoder.h"

namespace cu264::mp4 {

struct Sample {
  std::uint32_t size = 0;
  std::uint32_t duration = 0;  // ticks
  bool sync = true;            // depends on no other
};

// Samples that lie one after another.
struct Chunk {
  std::uint64_t offset = 0;  // of the first, from the beginning of all samples
  std::uint32_t samples = 0;
};

class Track {
 public:
  // `name` is for messages.
  Track(const char* name, Rational time_base);

  // Appends a sample at `offset`; pts and duration are in the time base. The previous sample's duration
  // becomes what lies between the two. Throws Error(bad_input) for times that do not increase.
  void add(std::size_t size, std::int64_t pts, std::int64_t duration, std::uint64_t offset, bool sync = true);

  // Forgets the samples, which a fragment has taken.
  void begin_fragment();

  bool empty() const { return empty_; }                   // no sample has come, in this fragment or before
  std::uint32_t timescale() const { return timescale_; }  // ticks a second
  const std::vector<Sample>& samples() const { return samples_; }
  bool all_sync() const { return all_sync_; }  // of samples()
  const std::vector<Chunk>& chunks() const { return chunks_; }
  std::int64_t first_pts() const { return first_; }  // ticks, of the first sample of the file
  std::int64_t begin() const { return begin_; }      // ticks, of the first of samples()
  std::int64_t end() const { return end_; }          // ticks, of the end of the last sample
  std::uint64_t bytes() const { return bytes_; }     // of samples()
  double seconds() const { return static_cast<double>(end_ - begin_) / timescale_; }  // of samples()

 private:
  std::int64_t ticks(std::int64_t units) const;

  const char* name_;
  std::uint32_t timescale_ = 1;
  std::int64_t unit_ = 1;  // ticks of a unit of the time base
  std::vector<Sample> samples_;
  std::vector<Chunk> chunks_;
  bool empty_ = true;  // there has been no sample in any fragment
  std::int64_t first_ = 0, begin_ = 0, end_ = 0;
  std::int64_t last_ = 0;         // pts of the last sample, ticks
  std::int64_t chunk_begin_ = 0;  // pts of the last chunk's first sample, ticks
  std::uint64_t next_offset_ = 0;
  std::uint64_t bytes_ = 0;
  bool all_sync_ = true;
};

}  // namespace cu264::mp4
