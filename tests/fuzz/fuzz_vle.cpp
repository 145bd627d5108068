// The container and the decoder on arbitrary bytes: they are refused with Error(bad_input), or expanded to
// something that survives compression and expansion. The first byte selects a file as it is, a file whose
// header and table checksums are corrected first, or bytes to compress.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "cu264/status.h"
#include "cu264/vle.h"
#include "entropy/vle/container.h"
#include "entropy/vle/crc32c.h"

namespace {

using namespace cu264;
using Bytes = std::vector<std::uint8_t>;

void require(bool condition) {
  if (!condition) std::abort();
}

vle::StreamOptions options() {
  vle::StreamOptions options;
  options.backend = BackendChoice::cpu, options.threads = 1;
  return options;
}

void require_round_trip(const Bytes& original) {
  require(vle::expand(vle::compress(original, options()), options()) == original);
}

void put(std::span<std::uint8_t> to, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

std::uint32_t get(std::span<const std::uint8_t> from) {
  return from[0] | from[1] << 8 | from[2] << 16 | std::uint32_t{from[3]} << 24;
}

// Sets signature, positions and checksums as a writer would, record by record, as far as the sizes allow.
void repair(Bytes& file) {
  if (file.size() < vle::kSignatureSize) return;
  vle::write_signature(std::span(file).first<vle::kSignatureSize>());
  std::span<std::uint8_t> rest = std::span(file).subspan(vle::kSignatureSize);
  std::uint64_t position = 0;
  while (rest.size() >= vle::kRecordHeaderSize) {
    const auto header = rest.first<vle::kRecordHeaderSize>();
    const std::uint32_t size = get(header.subspan(4)), tables = get(header.subspan(28));
    put(header.subspan(8), static_cast<std::uint32_t>(position));
    put(header.subspan(12), static_cast<std::uint32_t>(position >> 32));
    const std::span<std::uint8_t> body = rest.subspan(vle::kRecordHeaderSize);
    if (tables != 0)
      put(header.subspan(32), vle::crc32c(body.first(std::min<std::size_t>(tables, body.size()))));
    put(header.subspan(36), vle::crc32c(header.first<36>()));
    const std::uint64_t bits = get(header.subspan(16)) | std::uint64_t{get(header.subspan(20))} << 32;
    const std::uint64_t body_size = tables + vle::stream_bytes(bits);
    if (body_size > body.size()) return;
    rest = body.subspan(body_size), position += size;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  Bytes bytes(data + 1, data + size);
  if (data[0] % 3 == 2) {
    require_round_trip(bytes);
    return 0;
  }
  if (data[0] % 3 == 1) repair(bytes);
  try {
    require_round_trip(vle::expand(bytes, options()));
  } catch (const Error& error) {
    require(error.code() == ErrorCode::bad_input);
  }
  return 0;
}
