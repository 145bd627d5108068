#include "tests/parity/pack_runner.h"

#include "entropy/cavlc/published/cavlc_su.h"
#include "entropy/cavlc/published/cavlcu.h"
#include "entropy/cavlc/published/cavlcu_tuned.h"
#include "entropy/cavlc/published/lag_packing.h"
#include "entropy/cavlc/zeros_and_runs.h"
#include "support/device_array.cuh"
#include "tests/parity/device_batch.cuh"

namespace cu264::parity {

std::vector<PackedBatch> pack_on_device(const Shape& shape, const std::vector<TestPicture>& pictures,
                                        const std::vector<core::SliceHeaderBits>& headers, int repeats,
                                        std::uint64_t capacity, const entropy::EntropyKernel* kernel,
                                        const entropy::Packer* packer) {
  const DeviceBatch device(shape, pictures);
  const core::BatchView& batch = device.view;
  const DeviceArray<core::SliceHeaderBits> d_headers(headers);
  const std::size_t scratch_bytes = entropy::pack_scratch_bytes(
      batch.pictures, batch.mb_width, batch.mb_height, batch.slices, kernel, packer);
  if (capacity == 0) {
    capacity = batch.pictures * entropy::max_packed_bytes(batch.mb_width, batch.mb_height, batch.slices);
  }
  const DeviceArray<std::uint8_t> d_scratch(scratch_bytes), d_stream(capacity);
  const DeviceArray<std::uint8_t> d_coded(
      entropy::coded_bytes(batch.pictures, batch.mb_width, batch.mb_height, batch.slices));
  const DeviceArray<entropy::PackedPicture> d_pictures(pictures.size());
  check_cuda(cudaMemset(d_scratch.data(), 0xcd, scratch_bytes), "memset");
  entropy::launch_prepare_pack(d_scratch.data(), nullptr);
  const entropy::PackMemory memory{d_scratch.data(), d_coded.data(), d_stream.data(), capacity};

  std::vector<PackedBatch> results;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    check_cuda(cudaMemset(d_stream.data(), 0xee, capacity), "memset");
    entropy::launch_code_and_pack(batch, d_headers.data(), memory, d_pictures.data(), nullptr, kernel,
                                  entropy::launch_code, packer);
    check_cuda(cudaDeviceSynchronize(), "code and pack");
    PackedBatch& result = results.emplace_back();
    result.pictures = d_pictures.download();
    std::uint64_t end = 0;
    for (const entropy::PackedPicture& picture : result.pictures) {
      if (picture.failure == 0) end = picture.offset + picture.size;
    }
    result.stream = d_stream.download(end);
  }
  return results;
}

namespace {

// One form with its memory, which is poisoned at first.
struct FormOnDevice {
  FormOnDevice(CodingForm coding_form, const core::BatchView& view)
      : form(coding_form),
        batch(view),
        blocks(static_cast<std::size_t>(view.pictures) * view.macroblocks_per_picture() *
               core::kBlocksPerMacroblock),
        words(blocks * entropy::kBlockWords),
        lengths(blocks),
        shorts(blocks * entropy::kBlockShorts),
        overflow(blocks * entropy::kOverflowShorts),
        raster(entropy::raster_input_bytes(view.pictures, view.mb_width, view.mb_height)),
        scratch(scratch_bytes(coding_form, view)),
        zeros_and_runs(entropy::kZerosAndRunsEntries) {
    entropy::launch_make_zeros_and_runs(zeros_and_runs.data(), nullptr);
    poison(words), poison(lengths), poison(shorts), poison(overflow);
    const bool zeros = form == CodingForm::cavlcu_tuned;
    check_cuda(cudaMemset(scratch.data(), zeros ? 0 : 0xcd, scratch_bytes(form, batch)), "memset");
    input = entropy::launch_raster_input(batch, raster.data(), nullptr);
    if (form == CodingForm::cavlcu) {
      entropy::launch_prepare_cavlcu(batch.pictures, batch.mb_width, batch.mb_height, scratch.data(),
                                     nullptr);
    }
  }

  template <class T>
  static void poison(const DeviceArray<T>& array) {
    check_cuda(cudaMemset(array.data(), 0xcd, array.size() * sizeof(T)), "memset");
  }
  static std::size_t scratch_bytes(CodingForm form, const core::BatchView& batch) {
    const auto bytes = form == CodingForm::cavlcu         ? entropy::cavlcu_scratch_bytes
                       : form == CodingForm::cavlcu_tuned ? entropy::cavlcu_tuned_scratch_bytes
                                                          : entropy::cavlc_su_scratch_bytes;
    return bytes(batch.pictures, batch.mb_width, batch.mb_height);
  }

  entropy::BlockCodes codes() const { return {words.data(), lengths.data()}; }
  entropy::ShortCodes short_codes() const { return {shorts.data(), overflow.data(), lengths.data()}; }

  void launch() const {
    poison(lengths);
    if (form == CodingForm::cavlcu) {
      entropy::launch_cavlcu(input, entropy::CavlcuBlocks::all, scratch.data(), codes(), nullptr);
    } else if (form == CodingForm::cavlcu_tuned) {
      entropy::launch_cavlcu_tuned(batch, zeros_and_runs.data(), scratch.data(), codes(), nullptr);
    } else {
      entropy::launch_cavlc_su(input, scratch.data(), short_codes(), nullptr);
    }
  }

  std::vector<std::uint32_t> download_words() const {
    if (form != CodingForm::cavlc_su) return words.download();
    std::vector<std::uint16_t> host_shorts = shorts.download(), host_overflow = overflow.download();
    const entropy::ShortCodes host{host_shorts.data(), host_overflow.data(), nullptr};
    std::vector<std::uint32_t> all(blocks * entropy::kBlockWords);
    for (std::size_t block = 0; block < blocks; ++block) {
      for (int i = 0; i < (entropy::kBlockShorts + entropy::kOverflowShorts) / 2; ++i)
        all[block * entropy::kBlockWords + i] = host.word(block, i);
    }
    return all;
  }

  CodingForm form;
  core::BatchView batch;
  std::size_t blocks;
  DeviceArray<std::uint32_t> words;
  DeviceArray<std::uint16_t> lengths, shorts, overflow;
  DeviceArray<std::uint8_t> raster, scratch;
  DeviceArray<std::uint32_t> zeros_and_runs;
  entropy::RasterInput input;
};

}  // namespace

std::vector<CodedBlocks> code_on_device(CodingForm form, const Shape& shape,
                                        const std::vector<TestPicture>& pictures, int repeats) {
  const DeviceBatch device(shape, pictures);
  const core::BatchView& batch = device.view;
  const FormOnDevice coder(form, batch);
  const std::size_t packed_words = entropy::packed_block_words(batch.mb_width, batch.mb_height);
  const DeviceArray<std::uint32_t> d_packed(packed_words * pictures.size());
  const DeviceArray<std::uint64_t> d_packed_bits(pictures.size());
  const DeviceArray<std::uint8_t> d_packing(
      entropy::lag_packing_scratch_bytes(batch.pictures, batch.mb_width, batch.mb_height));
  const entropy::PackedBlocks packed{d_packed.data(), d_packed_bits.data()};
  const entropy::LagPackingShape packing{batch.pictures, batch.mb_width, batch.mb_height};

  std::vector<CodedBlocks> results;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    check_cuda(cudaMemset(d_packed.data(), 0xcd, packed_words * pictures.size() * 4), "memset");
    coder.launch();
    if (form == CodingForm::cavlc_su) {
      entropy::launch_lag_packing(packing, coder.short_codes(), d_packing.data(), packed, nullptr);
    } else {
      entropy::launch_lag_packing(packing, coder.codes(), d_packing.data(), packed, nullptr);
    }
    check_cuda(cudaDeviceSynchronize(), "code");
    results.push_back({coder.download_words(), coder.lengths.download(), d_packed.download(),
                       d_packed_bits.download(), packed_words});
  }
  return results;
}

std::vector<std::uint16_t> luma_lengths_on_device(const Shape& shape,
                                                  const std::vector<TestPicture>& pictures) {
  const DeviceBatch device(shape, pictures);
  const FormOnDevice coder(CodingForm::cavlcu, device.view);
  for (int run = 0; run < 2; ++run) {
    entropy::launch_cavlcu(coder.input, entropy::CavlcuBlocks::luma, coder.scratch.data(), coder.codes(),
                           nullptr);
  }
  check_cuda(cudaDeviceSynchronize(), "code");
  const std::vector<std::uint16_t> all = coder.lengths.download();
  std::vector<std::uint16_t> luma;
  for (std::size_t mb = 0; mb < device.macroblocks.size(); ++mb) {
    const auto first =
        all.begin() + static_cast<std::ptrdiff_t>(mb * core::kBlocksPerMacroblock + core::kSlotLuma);
    luma.insert(luma.end(), first, first + 16);
  }
  return luma;
}

}  // namespace cu264::parity
