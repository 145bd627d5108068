#include "tests/parity/item_strings.h"

#include <algorithm>

#include "core/cabac_item.h"
#include "core/device_batch.h"
#include "entropy/cabac/chunk_job.h"
#include "entropy/cabac/chunked_strings.h"
#include "entropy/cabac/code_strings.h"
#include "support/device_array.cuh"

namespace cu264::parity {

using test::DeviceArray;

std::vector<ItemString> code_items_on_device(const std::vector<ItemSlice>& slices, ItemChunks chunks) {
  std::size_t longest = 0;
  std::vector<core::PictureParams> params(slices.size());
  for (std::size_t i = 0; i < slices.size(); ++i) {
    longest = std::max(longest, slices[i].items.size());
    params[i].qp = static_cast<std::uint8_t>(slices[i].qp);
  }
  core::BatchView batch;
  batch.pictures = static_cast<int>(slices.size());
  // A string has room for eight bits an item then.
  batch.mb_width = static_cast<int>(longest / (4 * entropy::kStringWordsPerMacroblock) + 1);
  batch.mb_height = 1;
  const entropy::StringLayout layout = entropy::string_layout(batch);
  std::vector<std::uint16_t> items(layout.all_items(), core::kPaddingItem);
  std::vector<entropy::StringRecord> records(slices.size());
  for (std::size_t i = 0; i < slices.size(); ++i) {
    std::copy(slices[i].items.begin(), slices[i].items.end(),
              items.begin() + static_cast<std::ptrdiff_t>(layout.window_of(i)));
    records[i].items = static_cast<std::uint32_t>(slices[i].items.size());
  }
  const DeviceArray<core::PictureParams> d_params(params);
  batch.params = d_params.data();
  const DeviceArray<std::uint16_t> d_items(items);
  const DeviceArray<entropy::StringRecord> d_records(records);
  const DeviceArray<std::uint32_t> d_strings(layout.all_words());
  check_cuda(cudaMemset(d_strings.data(), 0xcd, 4 * layout.all_words()), "memset");
  if (chunks.items_log2 == 0) {
    entropy::launch_code_strings(batch, d_items.data(), d_records.data(), d_strings.data(), nullptr,
                                 1 << chunks.lanes_log2);
  } else {
    Arena arena(nullptr);
    entropy::carve_chunks(arena, layout, entropy::chunk_layout(layout, chunks.items_log2));
    const DeviceArray<std::uint8_t> d_scratch(arena.bytes());
    check_cuda(cudaMemset(d_scratch.data(), 0xcd, arena.bytes()), "memset");
    entropy::launch_code_strings_in_chunks(batch, d_items.data(), d_records.data(), d_strings.data(),
                                           d_scratch.data(), {chunks.items_log2, chunks.lanes_log2}, nullptr);
  }
  check_cuda(cudaDeviceSynchronize(), "coding items");
  const std::vector<std::uint32_t> words = d_strings.download();
  records = d_records.download();
  std::vector<ItemString> strings(slices.size());
  for (std::size_t i = 0; i < slices.size(); ++i) {
    if (records[i].broken != 0) continue;
    strings[i].bits = records[i].bits;
    for (std::uint32_t byte = 0; byte < (records[i].bits + 7) / 8; ++byte) {
      strings[i].bytes.push_back(
          static_cast<std::uint8_t>(words[layout.string_of(i) + byte / 4] >> (24 - 8 * (byte % 4))));
    }
  }
  return strings;
}

}  // namespace cu264::parity
