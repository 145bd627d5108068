// Times entropy coding on the GPU alone: levels of real pictures in device memory become codes or NAL units
// in device memory. The published forms, CAVLCU and CAVLC_SU, and CAVLCU's tuned form code the blocks; each
// is timed alone and with CAVLC_SU's lag packing after it. `code`, the encoder's own, also joins the blocks
// into macroblocks with their headers; `pack` makes NAL units of the result. Prints medians, and a JSON line
// after the table.
//
//   bench_cavlc CLIP.yuv WIDTH HEIGHT [PICTURES] [QP ...]
//
// Without PICTURES, batches have the size that an encoder chooses for `fast`.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "bench/cavlc_grids_bench.h"
#include "bench/coded_batch.cuh"
#include "bench/coded_clip.h"
#include "bench/device_timing.cuh"
#include "core/bit_ops.h"
#include "cu264/encoder.h"
#include "entropy/cavlc/code_batch.h"
#include "entropy/cavlc/published/cavlc_su.h"
#include "entropy/cavlc/published/cavlcu.h"
#include "entropy/cavlc/published/cavlcu_tuned.h"
#include "entropy/cavlc/published/lag_packing.h"
#include "entropy/cavlc/zeros_and_runs.h"
#include "entropy/pack/pack_batch.h"
#include "support/device_array.cuh"

namespace cu264::bench {
namespace {

using test::DeviceArray;

constexpr int kRuns = 15;

// The bytes of a picture that any coder has to read.
double bytes_read(const std::vector<encoder::CpuPicture>& clip) {
  double bytes = 0;
  for (const encoder::CpuPicture& picture : clip) {
    bytes += static_cast<double>(picture.macroblocks.size() * sizeof(core::MacroblockRecord) +
                                 picture.total_coeff.size());
    for (const core::MacroblockRecord& mb : picture.macroblocks) {
      bytes += core::count_ones(mb.nonzero_blocks) * core::kLevelsPerBlock * sizeof(std::int16_t);
    }
  }
  return bytes / static_cast<double>(clip.size());
}

// Microseconds a picture: the blocks' codes, and the same with lag packing.
struct Coder {
  double code = 0, packed = 0;
};
// The bytes of a picture's stream, and microseconds a picture.
struct Row {
  double bytes = 0;
  Coder cavlc_su, cavlcu, tuned;
  double cavlcu_luma = 0;
  double code = 0, code_and_pack = 0;
};
using Time = std::function<double(const std::function<void()>&)>;

void measure_published(const core::BatchView& view, const std::uint32_t* zeros_and_runs, const Time& us,
                       Row& row) {
  const int pictures = view.pictures, mb_width = view.mb_width, mb_height = view.mb_height;
  const std::size_t blocks =
      static_cast<std::size_t>(pictures) * mb_width * mb_height * core::kBlocksPerMacroblock;
  const DeviceArray<std::uint8_t> raster(entropy::raster_input_bytes(pictures, mb_width, mb_height));
  const entropy::RasterInput input = entropy::launch_raster_input(view, raster.data(), nullptr);
  const DeviceArray<std::uint16_t> lengths(blocks);
  const DeviceArray<std::uint32_t> packed_words(pictures * entropy::packed_block_words(mb_width, mb_height));
  const DeviceArray<std::uint64_t> packed_bits(static_cast<std::size_t>(pictures));
  const entropy::PackedBlocks packed{packed_words.data(), packed_bits.data()};
  const DeviceArray<std::uint8_t> positions(
      entropy::lag_packing_scratch_bytes(pictures, mb_width, mb_height));
  const auto both = [&](const std::function<void()>& launch, const auto& codes) {
    Coder coder;
    coder.code = us(launch);
    coder.packed = us([&] {
      launch();
      entropy::launch_lag_packing({pictures, mb_width, mb_height}, codes, positions.data(), packed, nullptr);
    });
    return coder;
  };
  {
    const DeviceArray<std::uint16_t> shorts(blocks * entropy::kBlockShorts);
    const DeviceArray<std::uint16_t> overflow(blocks * entropy::kOverflowShorts);
    const entropy::ShortCodes codes{shorts.data(), overflow.data(), lengths.data()};
    const DeviceArray<std::uint8_t> scratch(entropy::cavlc_su_scratch_bytes(pictures, mb_width, mb_height));
    row.cavlc_su = both([&] { entropy::launch_cavlc_su(input, scratch.data(), codes, nullptr); }, codes);
  }
  const DeviceArray<std::uint32_t> words(blocks * entropy::kBlockWords);
  const entropy::BlockCodes codes{words.data(), lengths.data()};
  {
    const DeviceArray<std::uint8_t> scratch(entropy::cavlcu_scratch_bytes(pictures, mb_width, mb_height));
    entropy::launch_prepare_cavlcu(pictures, mb_width, mb_height, scratch.data(), nullptr);
    const auto launch = [&](entropy::CavlcuBlocks which) {
      entropy::launch_cavlcu(input, which, scratch.data(), codes, nullptr);
    };
    row.cavlcu_luma = us([&] { launch(entropy::CavlcuBlocks::luma); });
    row.cavlcu = both([&] { launch(entropy::CavlcuBlocks::all); }, codes);
  }
  const std::size_t scratch_bytes = entropy::cavlcu_tuned_scratch_bytes(pictures, mb_width, mb_height);
  const DeviceArray<std::uint8_t> scratch(scratch_bytes);
  check_cuda(cudaMemset(scratch.data(), 0, scratch_bytes), "memset");
  row.tuned = both(
      [&] { entropy::launch_cavlcu_tuned(view, zeros_and_runs, scratch.data(), codes, nullptr); }, codes);
}

Row measure(const core::BatchView& view) {
  const int pictures = view.pictures, mb_width = view.mb_width, mb_height = view.mb_height;
  const auto us = [&](const std::function<void()>& launch) {
    return 1e3 * median_milliseconds(kRuns, launch) / pictures;
  };
  Row row;
  const DeviceArray<std::uint32_t> zeros_and_runs(entropy::kZerosAndRunsEntries);
  entropy::launch_make_zeros_and_runs(zeros_and_runs.data(), nullptr);
  measure_published(view, zeros_and_runs.data(), us, row);
  const DeviceArray<std::uint8_t> scratch(entropy::pack_scratch_bytes(pictures, mb_width, mb_height, 1));
  const std::size_t capacity = pictures * entropy::max_packed_bytes(mb_width, mb_height, 1);
  const DeviceArray<std::uint8_t> stream(capacity);
  const DeviceArray<entropy::PackedPicture> packed(static_cast<std::size_t>(pictures));
  const DeviceArray<core::SliceHeaderBits> headers(
      std::vector<core::SliceHeaderBits>(static_cast<std::size_t>(pictures), {0xb84, 14}));
  const entropy::GroupLayout layout = entropy::group_layout(view);
  const DeviceArray<std::uint32_t> words(entropy::group_words(layout, mb_width, mb_height));
  const DeviceArray<entropy::GroupRecord> records(layout.groups());
  const DeviceArray<std::uint32_t> ticket(std::vector<std::uint32_t>{0});
  row.code = us([&] {
    entropy::launch_code(view, {zeros_and_runs.data(), ticket.data(), scratch.data()},
                         {words.data(), records.data()}, nullptr);
  });
  entropy::launch_prepare_pack(scratch.data(), nullptr);
  const entropy::PackMemory memory{scratch.data(), words.data(), stream.data(), capacity};
  row.code_and_pack =
      us([&] { entropy::launch_code_and_pack(view, headers.data(), memory, packed.data(), nullptr); });
  const entropy::PackedPicture last = packed.download().back();
  row.bytes = static_cast<double>(last.offset + last.size) / pictures;
  return row;
}

// Returns the rows as JSON.
std::string run(const std::string& path, int width, int height, int pictures, const std::vector<int>& qps) {
  // So many bytes are read, and as many are written.
  constexpr std::size_t kCopyBytes = std::size_t{2} << 30;
  const double copy_rate = kCopyBytes / (1e-3 * copy_milliseconds(kRuns, kCopyBytes));  // bytes a second
  std::printf("%s, %dx%d, batches of %d; copy ceiling %.0f GB/s; microseconds a picture\n", path.c_str(),
              width, height, pictures, 1e-9 * copy_rate);
  std::printf("%3s %9s | %8s %8s | %8s %8s %8s | %8s %8s | %6s %6s %6s | %8s %9s %9s\n", "QP", "bytes",
              "CAVLC_SU", "+ lag", "CAVLCU", "+ lag", "luma", "tuned", "+ lag", "SU/U", "+ lag", "SU/tun",
              "code", "code+pack", "% of copy");
  std::string json;
  for (const int qp : qps) {
    const std::vector<encoder::CpuPicture> clip = coded_clip(path, width, height, qp);
    const CodedBatch batch(clip, pictures, 1, qp);
    const Row row = measure(batch.view());
    // The bytes that must be moved: records, counts and the blocks that hold levels are read, the stream is
    // written.
    const double moved = bytes_read(clip) + row.bytes;
    const double share = 100 * moved / copy_rate / (1e-6 * row.code_and_pack);
    std::printf(
        "%3d %9.0f | %8.2f %8.2f | %8.2f %8.2f %8.2f | %8.2f %8.2f | %5.1fx %5.1fx %5.1fx | %8.2f %9.2f "
        "%9.1f\n",
        qp, row.bytes, row.cavlc_su.code, row.cavlc_su.packed, row.cavlcu.code, row.cavlcu.packed,
        row.cavlcu_luma, row.tuned.code, row.tuned.packed, row.cavlc_su.code / row.cavlcu.code,
        row.cavlc_su.packed / row.cavlcu.packed, row.cavlc_su.code / row.tuned.code, row.code,
        row.code_and_pack, share);
    char text[512];
    std::snprintf(text, sizeof(text),
                  "%s{\"qp\":%d,\"bytes\":%.0f,\"cavlc_su_us\":%.2f,\"unpacked_cavlc_su_us\":%.2f,"
                  "\"cavlcu_us\":%.2f,\"cavlcu_packed_us\":%.2f,\"luma_cavlcu_us\":%.2f,"
                  "\"cavlcu_tuned_us\":%.2f,\"cavlcu_tuned_packed_us\":%.2f,\"code_us\":%.2f,"
                  "\"code_and_pack_us\":%.2f,\"bytes_moved\":%.0f}",
                  json.empty() ? "" : ",", qp, row.bytes, row.cavlc_su.packed, row.cavlc_su.code,
                  row.cavlcu.code, row.cavlcu.packed, row.cavlcu_luma, row.tuned.code, row.tuned.packed,
                  row.code, row.code_and_pack, moved);
    json += text;
  }
  char text[64];
  std::snprintf(text, sizeof(text), "\"copy_gb_s\":%.0f,\"rows\":[", 1e-9 * copy_rate);
  return text + json + "]";
}

// The functions of cu264/cavlc.h, to be read beside the column `code`, which has chroma and headers too.
std::string run_grids(const std::string& path, int width, int height, int pictures,
                      const std::vector<int>& qps) {
  std::printf("cu264/cavlc.h on the blocks of luma, %d pictures at a time; microseconds a picture\n",
              pictures);
  std::printf("%3s %9s | %9s | %9s %9s | %9s %9s\n", "QP", "grid", "bytes", "encode", "decode", "host enc.",
              "host dec.");
  std::string json;
  for (const int qp : qps) {
    for (const GridRates& rates : grid_rates(coded_clip(path, width, height, qp), pictures)) {
      const std::string shape = std::to_string(rates.width) + "x" + std::to_string(rates.height);
      std::printf("%3d %9s | %9.0f | %9.2f %9.2f | %9.0f %9.0f\n", qp, shape.c_str(), rates.bytes,
                  rates.device_encode, rates.device_decode, rates.host_encode, rates.host_decode);
      char text[256];
      std::snprintf(text, sizeof(text),
                    "%s{\"qp\":%d,\"grid\":\"%s\",\"bytes\":%.0f,\"encode_us\":%.2f,\"decode_us\":%.2f,"
                    "\"host_encode_us\":%.0f,\"host_decode_us\":%.0f}",
                    json.empty() ? "" : ",", qp, shape.c_str(), rates.bytes, rates.device_encode,
                    rates.device_decode, rates.host_encode, rates.host_decode);
      json += text;
    }
  }
  return "\"grids\":[" + json + "]";
}

int encoders_batch(int width, int height) {
  Config config;
  config.width = width, config.height = height;
  config.backend = BackendChoice::cuda, config.preset = Preset::fast;
  config.profile = Profile::baseline;
  return memory_required(config).batch;
}

}  // namespace
}  // namespace cu264::bench

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: bench_cavlc CLIP.yuv WIDTH HEIGHT [PICTURES] [QP ...]\n");
    return 1;
  }
  try {
    std::vector<int> qps;
    for (int i = 5; i < argc; ++i) qps.push_back(std::atoi(argv[i]));
    if (qps.empty()) qps = {0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50};
    const int width = std::atoi(argv[2]), height = std::atoi(argv[3]);
    const int pictures = argc > 4 ? std::atoi(argv[4]) : cu264::bench::encoders_batch(width, height);
    const std::string rows = cu264::bench::run(argv[1], width, height, pictures, qps);
    const std::string grids = cu264::bench::run_grids(argv[1], width, height, std::min(pictures, 32), qps);
    std::printf("{\"clip\":\"%s\",\"width\":%d,\"height\":%d,\"pictures\":%d,%s,%s}\n", argv[1], width,
                height, pictures, rows.c_str(), grids.c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_cavlc: %s\n", error.what());
    return 2;
  }
  return 0;
}
