// Runs the tools that read what others made (decrypt, extract and get), and those that add something, on
// streams that were changed since. They must give an error or a result.
#include <array>
#include <cstdint>
#include <vector>

#include "cu264/protect.h"

namespace {

using Bytes = std::vector<std::uint8_t>;

cu264::ProtectionKey key() {
  return cu264::ProtectionKey(std::array<std::uint8_t, 32>{1, 2, 3});
}

std::unique_ptr<cu264::StreamTool> tool_of(int which) {
  switch (which) {
    case 0:
      return cu264::make_decryptor(key());
    case 1:
      return cu264::make_decryptor(key(), {true});
    case 2:
      return make_watermark_extractor(key());
    case 3:
      return cu264::make_hidden_reader(key());
    default:
      return make_hider(key(), Bytes{0x33});
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto tool = tool_of(data[0] % 5);
  try {
    tool->set_threads(size % 2 == 0 ? 1 : 2);
    // The second half goes in a call of its own if the first bit says so.
    const std::size_t half = (data[0] & 128) != 0 ? size / 2 : size;
    tool->access_units({data + 1, half - 1});
    if (half != size) tool->access_units({data + half, size - half});
    tool->last_units();
    tool->finish();
  } catch (const cu264::Error&) {
  }
  return 0;
}
