// Reads a bare H.264 stream (annex B) in parts that are whole access units, in bounded memory.
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
  // `stop` is used as InputFile::read uses it.
  explicit AccessUnitReader(InputFile& file, std::function<bool()> stop = {});

  // Returns the next access units: as many as some MiB hold, but at least one. They are valid until the next
  // call. The result is empty at the end. All parts in a row are the stream, byte for byte. Throws
  // Error(bad_input) for an access unit of more than 256 MiB, which no picture that H.264 allows needs.
  std::span<const std::uint8_t> next();

 private:
  void forget_handed_out();
  void fill();
  void find_boundaries();
  bool begins_access_unit(std::size_t header);

  InputFile& file_;
  std::function<bool()> stop_;
  std::vector<std::uint8_t> buffer_;
  std::size_t size_ = 0;        // the number of bytes of the buffer that are in use
  std::size_t handed_out_ = 0;  // how many of these the last next() handed out
  std::size_t searched_ = 0;    // no start code begins before this, except those already seen
  std::size_t boundary_ = 0;    // where the last access unit in the buffer begins
  bool has_slice_ = false;      // whether the access unit that is being searched has one
  bool at_end_ = false;
};

}  // namespace cu264::io
