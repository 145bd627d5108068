// Every stream tool on an arbitrary byte stream gives an error or a stream, and decryption restores what was
// encrypted.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "cu264/protect.h"

namespace {

using cu264::StreamTool;
using Bytes = std::vector<std::uint8_t>;

cu264::ProtectionKey key() {
  return cu264::ProtectionKey(std::array<std::uint8_t, 32>{1, 2, 3});
}

// Returns false if the stream is refused.
bool run(std::unique_ptr<StreamTool> tool, const Bytes& stream, Bytes& out) {
  try {
    // The tool works on several slices at a time, or on one.
    tool->set_threads(stream.size() % 2 == 0 ? 1 : 2);
    out = run_tool(*tool, stream).stream;
    return true;
  } catch (const cu264::Error&) {
    return false;
  }
}

void encrypt_and_back(int strength, const Bytes& stream) {
  Bytes encrypted, back;
  if (!run(make_encryptor(key(), {cu264::encryption_strength(strength), strength == 2}), stream, encrypted))
    return;
  if (!run(cu264::make_decryptor(key()), encrypted, back) || back != stream) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const Bytes stream(data + 1, data + size);
  const Bytes payload{0x5a};
  Bytes out;
  switch (data[0] % 8) {
    case 0:
    case 1:
    case 2:
      encrypt_and_back(1 + data[0] % 8, stream);
      break;
    case 3:
      run(make_watermark_embedder(key(), {cu264::WatermarkScheme::t1_sign, 65536}, payload), stream, out);
      break;
    case 4:
      run(make_watermark_embedder(key(), {cu264::WatermarkScheme::t1_parity, 65536}, payload), stream, out);
      break;
    case 5:
      run(make_hider(key(), payload), stream, out);
      break;
    case 6:
      run(cu264::make_decryptor(key()), stream, out);
      run(cu264::make_hidden_reader(key()), stream, out);
      break;
    default:
      run(make_watermark_extractor(key()), stream, out);
  }
  return 0;
}
