#include "tests/parity/vle_decode_device.h"

#include <algorithm>

#include "entropy/vle/fast.h"
#include "support/device_array.cuh"

namespace cu264::parity {
namespace {

using test::DeviceArray;

constexpr std::uint8_t kRubbish = 0xa5;
constexpr std::size_t kGuard = 1024;

// Device memory of exactly this many bytes, holding rubbish.
DeviceArray<std::uint8_t> rubbish(std::size_t bytes) {
  return DeviceArray<std::uint8_t>(std::vector<std::uint8_t>(std::max<std::size_t>(bytes, 1), kRubbish));
}

}  // namespace

IndexedStream encode_with_index(const vle::CodeTable& table, const std::vector<std::uint8_t>& input,
                                int alignment) {
  std::vector<std::uint8_t> placed(alignment, kRubbish);
  placed.insert(placed.end(), input.begin(), input.end());
  if (placed.empty()) placed.push_back(kRubbish);
  const std::size_t room = input.size() * 2 + 4 - input.size() * 2 % 4;
  const DeviceArray<std::uint8_t> d_input(placed);
  const DeviceArray<vle::CodeTable> d_table(std::vector<vle::CodeTable>{table});
  const DeviceArray<std::uint8_t> d_output = rubbish(room);
  const DeviceArray<vle::EncodeResult> d_result(1);
  const DeviceArray<std::uint64_t> d_index(vle::chunk_count(input.size()) + 1);
  const std::size_t scratch = vle::fast_scratch_bytes(input.size());
  const DeviceArray<std::uint8_t> d_scratch = rubbish(scratch);
  vle::fast_encode({d_input.data() + alignment, input.size(), d_table.data(), d_output.data(), room,
                    d_result.data(), d_scratch.data(), scratch, nullptr},
                   d_index.data());
  check_cuda(cudaDeviceSynchronize(), "fast_encode");

  IndexedStream stream;
  stream.result = d_result.download()[0];
  stream.bytes = d_output.download((stream.result.bits + 31) / 32 * 4);
  stream.index = d_index.download(vle::chunk_count(input.size()));
  return stream;
}

Decoded decode_on_device(const vle::CodeTable& table, const IndexedStream& stream, std::size_t size,
                         int alignment) {
  const bool with_index = !stream.index.empty();
  const std::vector<std::uint8_t> bytes = stream.bytes.empty() ? std::vector<std::uint8_t>(4) : stream.bytes;
  const DeviceArray<std::uint8_t> d_stream(bytes);
  const DeviceArray<std::uint64_t> d_bits(std::vector<std::uint64_t>{stream.result.bits});
  const DeviceArray<vle::CodeTable> d_table(std::vector<vle::CodeTable>{table});
  const DeviceArray<std::uint64_t> d_index(with_index ? stream.index : std::vector<std::uint64_t>(1));
  const DeviceArray<std::uint8_t> d_output = rubbish(kGuard + alignment + size + kGuard);
  const DeviceArray<vle::DecodeResult> d_result(1);
  const std::size_t scratch = vle::decode_scratch_bytes(stream.bytes.size(), size, with_index);
  const DeviceArray<std::uint8_t> d_scratch = rubbish(scratch);
  vle::decode({d_stream.data(), stream.bytes.size(), d_bits.data(), d_table.data(),
               with_index ? d_index.data() : nullptr, d_output.data() + kGuard + alignment, size,
               d_result.data(), d_scratch.data(), scratch, nullptr});
  check_cuda(cudaDeviceSynchronize(), "decode");

  Decoded decoded;
  decoded.result = d_result.download()[0];
  const std::vector<std::uint8_t> all = d_output.download();
  const auto begin = all.begin() + kGuard + alignment, end = begin + size;
  const auto untouched = [](std::uint8_t byte) { return byte == kRubbish; };
  decoded.output.assign(begin, end);
  decoded.wrote_outside =
      !std::all_of(all.begin(), begin, untouched) || !std::all_of(end, all.end(), untouched);
  return decoded;
}

}  // namespace cu264::parity
