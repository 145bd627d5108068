// A bare H.264 stream (annex B) in parts that are whole access units, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "io/input_file.h"

namespace cu264::io {

class AccessUnitReader {
 public:
  // `stop` as InputFile::read has it.
  explicit AccessUnitReader(InputFile& file, std::function<bool()> stop = {});

  // The next access units, as many as some MiB hold but at least one; valid until the next call. Empty at the
  // end. All parts in a row are the stream, byte for byte. Throws Error(bad_input) for an access unit of more
  // than 256 MiB, which no picture that H.264 allows needs.
  std::span<const std::uint8_t> next();

 private:
  void forget_handed_out();
  void fill();
  void find_boundaries();
  bool begins_access_unit(std::size_t header);

  InputFile& file_;
  std::function<bool()> stop_;
  std::vector<std::uint8_t> buffer_;
  std::size_t size_ = 0;        // bytes of the buffer that are in use
  std::size_t handed_out_ = 0;  // of these, by the last next()
  std::size_t searched_ = 0;    // no start code begins before, except those already seen
  std::size_t boundary_ = 0;    // where the last access unit in the buffer begins
  bool has_slice_ = false;      // the access unit that is being searched
  bool at_end_ = false;
};

}  // namespace cu264::io
