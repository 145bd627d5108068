// Stream tools whose input comes in several calls, cut between NAL units or anywhere, give an error or a
// stream. If the input is cut between units, decryption restores what was encrypted.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <random>
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
      return make_encryptor(key(), {cu264::encryption_strength(3), false});
    case 1:
      return make_encryptor(key(), {cu264::encryption_strength(2), true});
    case 2:
      return make_watermark_embedder(key(), {cu264::WatermarkScheme::t1_parity, 65536}, Bytes{0x5a});
    default:
      return make_hider(key(), Bytes{0x5a});
  }
}

bool begins_unit(const Bytes& stream, std::size_t at) {
  return at + 3 <= stream.size() && stream[at] == 0 && stream[at + 1] == 0 && stream[at + 2] == 1;
}

// Returns false if the stream is refused.
bool run_in_calls(cu264::StreamTool& tool, const Bytes& stream, bool anywhere, std::uint32_t seed,
                  Bytes& out) {
  std::mt19937 random(seed);
  const auto append = [&out](const Bytes& bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); };
  try {
    tool.set_threads(seed % 3 == 0 ? 2 : 1);
    std::size_t begin = 0;
    for (std::size_t at = 1; at < stream.size(); ++at) {
      const bool may_cut = anywhere ? random() % 64 == 0 : begins_unit(stream, at) && random() % 2 == 0;
      if (!may_cut) continue;
      append(tool.access_units({stream.data() + begin, at - begin}));
      begin = at;
    }
    append(tool.access_units({stream.data() + begin, stream.size() - begin}));
    append(tool.last_units());
    tool.finish();
    return true;
  } catch (const cu264::Error&) {
    return false;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const Bytes stream(data + 3, data + size);
  const bool anywhere = (data[0] & 4) != 0;
  const int which = data[0] & 3;
  Bytes out;
  const std::uint32_t seed = data[1] | static_cast<std::uint32_t>(data[2]) << 8;
  if (!run_in_calls(*tool_of(which), stream, anywhere, seed, out) || anywhere || which > 1) return 0;
  if (run_tool(*cu264::make_decryptor(key(), {which == 1}), out).stream != stream) std::abort();
  return 0;
}
