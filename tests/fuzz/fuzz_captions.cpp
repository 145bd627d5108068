// Captions of any number and content go into any access unit: what was there stays, and they come out again.
//
// The input is two bytes that count the bytes of the captions, the captions, and the access unit.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cu264/sei.h"
#include "io/captions.h"
#include "tests/fuzz/memory_file.h"

namespace {

using Bytes = std::vector<std::uint8_t>;
using cu264::fuzz::require;

constexpr std::uint8_t kStartCode[3] = {0, 0, 1};

// The content of the NAL units of type 6 that begin in these bytes, without emulation prevention.
std::vector<Bytes> sei_units(std::span<const std::uint8_t> stream) {
  std::vector<Bytes> units;
  auto at = std::search(stream.begin(), stream.end(), kStartCode, kStartCode + 3);
  while (at != stream.end()) {
    at += 3;
    const auto next = std::search(at, stream.end(), kStartCode, kStartCode + 3);
    if (at != next && (*at & 31) == 6) {
      Bytes unit;
      int zeros = 0;
      for (auto byte = at + 1; byte != next; ++byte) {
        if (zeros >= 2 && *byte == 3) {
          zeros = 0;
          continue;
        }
        zeros = *byte == 0 ? zeros + 1 : 0;
        unit.push_back(*byte);
      }
      units.push_back(unit);
    }
    at = next;
  }
  return units;
}

// The captions of messages that insert_captions wrote; nothing if it did not write them: bytes that repeat
// may have been inserted at several places, and only one of these has whole messages.
std::optional<Bytes> captions_in(const std::vector<Bytes>& units) {
  Bytes captions;
  for (const Bytes& unit : units) {
    if (unit.size() <= 12 || unit[0] != cu264::kSeiUserDataRegistered || unit[1] + 2u >= unit.size())
      return {};
    const std::size_t bytes = (unit[10] & 31u) * 3;
    if (unit[1] != bytes + 11 || unit[2] != 0xb5) return {};
    captions.insert(captions.end(), unit.begin() + 12,
                    unit.begin() + 12 + static_cast<std::ptrdiff_t>(bytes));
  }
  return captions;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t told = data[0] * 256u + data[1];
  const std::size_t bytes = std::min(told, size - 2) / 3 * 3;
  const Bytes captions(data + 2, data + 2 + bytes), before(data + 2 + bytes, data + size);
  Bytes after = before;
  cu264::io::insert_captions(after, captions);
  require(after.size() >= before.size());
  const std::size_t added = after.size() - before.size();
  const std::size_t counted = cu264::io::captions_bytes(captions);
  require(added == counted || added == counted + 1);  // one zero byte more at the very beginning
  // The new bytes lie in one place.
  const auto place = static_cast<std::size_t>(
      std::mismatch(before.begin(), before.end(), after.begin()).first - before.begin());
  bool found = added == 0;
  for (std::size_t at = 0; at <= place && !found; ++at) {
    if (!std::equal(before.begin() + static_cast<std::ptrdiff_t>(at), before.end(),
                    after.begin() + static_cast<std::ptrdiff_t>(at + added)))
      continue;
    const std::span<const std::uint8_t> inserted(after.data() + at, added);
    const bool begins = added > 4 && inserted[0] == 0 && inserted[1] == 0;
    found = begins && captions_in(sei_units(inserted)) == captions;
  }
  require(found);
  return 0;
}
