// Times CABAC on the GPU: its stages alone on pictures of a real clip, the serial coder on one core of the
// host beside them, and the whole encoder with CABAC and with CAVLC.
//
//   bench_cabac [--quick] [--encode] CLIP.yuv WIDTHxHEIGHT [QP]
//
// --quick measures the whole encoder in short runs, --encode leaves the stages out. The clip's first eight
// frames are coded by the CPU backend and repeated on the device, so that all inputs are larger than its
// cache. Times are medians of CUDA events after warm-up runs.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/coded_batch.cuh"
#include "bench/coded_clip.h"
#include "bench/device_timing.cuh"
#include "bench/encode_rate.h"
#include "bench/gpu_bench.h"
#include "core/cabac_encoder.h"
#include "core/cabac_item.h"
#include "entropy/cabac/binarise.h"
#include "entropy/cabac/cabac_batch.h"
#include "entropy/cabac/chunk_job.h"
#include "entropy/cabac/code_slices.h"
#include "entropy/pack/pack_cabac_slices.h"
#include "support/device_array.cuh"

namespace cu264::bench {
namespace {

using test::DeviceArray;

constexpr int kRuns = 7;

struct Coding {
  const char* name;
  Profile profile;
  bool cavlc;
};

constexpr Coding kCodings[] = {{"baseline", Profile::baseline, false},
                               {"main", Profile::main, false},
                               {"high --cavlc", Profile::high, true},
                               {"high", Profile::high, false}};

// The items of one slice on one core of the host. Returns bins a second.
double serial_rate(const std::vector<std::uint16_t>& items, int qp) {
  std::vector<std::uint8_t> bytes(items.size() + 64);
  std::vector<double> rates;
  for (int run = 0; run < 5; ++run) {
    const StopWatch watch;
    core::CabacEncoder coder(bytes.data(), bytes.size(), qp);
    for (const std::uint16_t item : items) {
      if (core::item_kind(item) == core::CabacItemKind::pcm)
        throw std::runtime_error("the clip has I_PCM macroblocks: choose a higher QP");
      core::put_item(coder, item);
    }
    coder.finish();
    rates.push_back(static_cast<double>(coder.bins()) / watch.seconds());
  }
  return median(std::move(rates));
}

// The shape that is chosen, then others.
std::vector<entropy::ChunkShape> chunk_shapes(const entropy::ChunkShape& chosen) {
  std::vector<entropy::ChunkShape> shapes{chosen};
  for (int items_log2 = 10; items_log2 <= 12; ++items_log2) {
    for (const int lanes_log2 : {2, 3, 4, 5}) shapes.push_back({items_log2, lanes_log2});
  }
  return shapes;
}

// Memory of the stages, where all items of a batch lie in the pool.
class StageMemory {
 public:
  StageMemory(const core::BatchView& view, entropy::ChunkShape shape)
      : layout_(entropy::slice_bits_layout(view)) {
    const auto mbs =
        static_cast<std::size_t>(view.pictures) * static_cast<std::size_t>(view.macroblocks_per_picture());
    // Twice what pictures have at QP 22.
    constexpr std::size_t kItems = 700;
    const std::size_t segment = std::size_t{entropy::kChunksPerSegment} << shape.items_log2;
    const std::size_t segments = mbs * kItems / segment + layout_.slice_count();
    const entropy::PoolLayout pool =
        entropy::pool_layout(layout_, shape, static_cast<std::uint32_t>(segments));
    const auto carve = [&](Arena& arena) {
      binarise = entropy::carve_binarise(arena, view.pictures, view.mb_width, view.mb_height, view.slices);
      job.batch = view;
      job.layout = layout_;
      job.pool = {pool, arena.take<std::uint16_t>(pool.items()),
                  arena.take<std::uint32_t>(pool.most_segments), arena.take<std::uint32_t>(1)};
      job.records = arena.take<entropy::CabacSliceRecord>(layout_.slice_count());
      job.slice_bits = arena.take<std::uint32_t>(layout_.all_words());
      job.memory = entropy::carve_chunks(arena, pool, mbs);
    };
    Arena sizes(nullptr);
    carve(sizes);
    memory_.emplace(sizes.bytes());
    Arena arena(memory_->data());
    carve(arena);
  }

  void launch_binarise() const {
    entropy::launch_binarise(job.batch, binarise, job.records, job.pool, 0, nullptr);
  }
  std::vector<entropy::CabacSliceRecord> records() const {
    std::vector<entropy::CabacSliceRecord> copy(layout_.slice_count());
    check_cuda(cudaMemcpy(copy.data(), job.records, copy.size() * sizeof(copy[0]), cudaMemcpyDeviceToHost),
               "download");
    return copy;
  }
  // The items of the first slice.
  std::vector<std::uint16_t> first_items() const {
    std::vector<std::uint16_t> items(records()[0].items);
    check_cuda(cudaMemcpy(items.data(), job.pool.items_of(0), 2 * items.size(), cudaMemcpyDeviceToHost),
               "download");
    return items;
  }

  entropy::ChunkJob job;
  entropy::BinariseScratch binarise;

 private:
  const entropy::SliceBitsLayout layout_;
  std::optional<DeviceArray<std::uint8_t>> memory_;
};

void report_stages(const std::vector<encoder::CpuPicture>& clip, int qp, Report& report) {
  for (const auto& [pictures, slices] :
       {std::pair{1, 1}, {1, 8}, {16, 1}, {32, 8}, {161, 1}, {161, 8}, {161, 34}}) {
    const CodedBatch batch(clip, pictures, slices, qp);
    const core::BatchView& view = batch.view();
    const std::size_t slice_count = static_cast<std::size_t>(pictures) * static_cast<std::size_t>(slices);
    const DeviceArray<std::uint8_t> pack_scratch(
        entropy::cabac_pack_scratch_bytes(pictures, view.mb_width, view.mb_height, slices));
    const std::size_t capacity = static_cast<std::size_t>(pictures) *
                                 entropy::max_packed_cabac_bytes(view.mb_width, view.mb_height, slices);
    const DeviceArray<std::uint8_t> stream(capacity);
    const DeviceArray<core::SliceHeaderBits> headers(
        std::vector<core::SliceHeaderBits>(slice_count, core::slice_header(0, {})));
    const DeviceArray<entropy::PackedPicture> packed(static_cast<std::size_t>(pictures));
    const auto milliseconds = [](const std::function<void()>& launch) {
      return median_milliseconds(kRuns, launch);
    };
    // One way of the arithmetic coder, and the packer after it.
    const auto report_way = [&](const std::string& way, const StageMemory& memory,
                                const std::function<void()>& launch) {
      const double binarise = milliseconds([&] { memory.launch_binarise(); });
      // Slices continue where the previous ones ended.
      const double code = milliseconds([&] {
                            memory.launch_binarise();
                            launch();
                          }) -
                          binarise;
      const double pack = milliseconds([&] {
        entropy::launch_pack_cabac_slices(view, headers.data(), memory.job.records, memory.job.slice_bits,
                                          {pack_scratch.data(), stream.data(), capacity}, packed.data(),
                                          nullptr);
      });
      double bins = 0, bits = 0;
      for (const entropy::CabacSliceRecord& record : memory.records())
        bins += record.bins, bits += record.bits;
      report.row("stages of CABAC", {{"pictures", pictures},
                                     {"slices", slices},
                                     {"way", way},
                                     {"Mbins_a_picture", 1e-6 * bins / pictures, 2},
                                     {"bytes_a_picture", bits / 8 / pictures},
                                     {"binarise_ms", binarise, 3},
                                     {"code_ms", code, 3},
                                     {"pack_ms", pack, 3},
                                     {"Gbin/s", 1e-6 * bins / code, 2}});
    };
    const entropy::ChunkShape chosen =
        entropy::pool_layout(
            entropy::slice_bits_layout(view),
            static_cast<std::size_t>(pictures) * static_cast<std::size_t>(view.macroblocks_per_picture()),
            entropy::pool_room(pictures, view.mb_width, view.mb_height, slices,
                               entropy::cabac_stream_bytes(pictures, view.mb_width, view.mb_height, slices)))
            .shape;
    {
      const StageMemory memory(view, chosen);
      for (const int lanes : {0, 1, 32}) {
        if (lanes > 0 && (pictures == 1 || slices > 8)) continue;
        report_way("serial, lanes " + (lanes == 0 ? std::string("auto") : std::to_string(lanes)), memory,
                   [&] {
                     entropy::launch_code_slices(view, memory.job.pool, memory.job.records,
                                                 memory.job.slice_bits, nullptr, lanes);
                   });
      }
      if (pictures == 1 && slices == 1)
        report.row("serial coder on one core", {{"Mbin/s", 1e-6 * serial_rate(memory.first_items(), qp), 1}});
    }
    for (const entropy::ChunkShape& shape : chunk_shapes(chosen)) {
      const StageMemory memory(view, shape);
      const entropy::ChunkJob& job = memory.job;
      report_way("chunks of " + std::to_string(1 << shape.items_log2) + ", lanes " +
                     std::to_string(1 << shape.lanes_log2),
                 memory, [&] { entropy::launch_code_round(job, nullptr); });
      if (shape.lanes_log2 != chosen.lanes_log2) continue;
      report.row("stages of the coder in chunks",
                 {{"pictures", pictures},
                  {"slices", slices},
                  {"items", 1 << shape.items_log2},
                  {"lanes", 1 << shape.lanes_log2},
                  {"sort_ms", milliseconds([&] { entropy::launch_sort_bins(job, nullptr); }), 3},
                  {"walk_ms", milliseconds([&] { entropy::launch_walk_states(job, nullptr); }), 3},
                  {"code_ms", milliseconds([&] { entropy::launch_code_chunks(job, nullptr); }), 3},
                  {"join_ms", milliseconds([&] { entropy::launch_join_pieces(job, nullptr); }), 3}});
    }
    // A round for which nothing is left.
    StageMemory rest(view, chosen);
    rest.launch_binarise();
    rest.job.round = 1;
    report.row("a round without items", {{"pictures", pictures},
                                         {"slices", slices},
                                         {"ms", milliseconds([&] {
                                            entropy::launch_binarise(view, rest.binarise, rest.job.records,
                                                                     rest.job.pool, 1, nullptr);
                                            entropy::launch_code_round(rest.job, nullptr);
                                          }),
                                          4}});
  }
}

void report_rates(const Clip& clip, int qp, int batch, bool quick, Report& report) {
  const FramePool pool(clip, MemoryKind::device);
  for (const auto& [preset, name] : kPresets) {
    for (const int slices : {1, 8}) {
      for (const Coding& coding : kCodings) {
        Config config = config_of(clip, preset, batch, slices);
        config.profile = coding.profile, config.cavlc = coding.cavlc;
        config.qp = qp;
        const Rate rate = measure_rate(config, pool, quick);
        report.row("whole encode", {{"preset", name},
                                    {"slices", slices},
                                    {"profile", coding.name},
                                    {"batch", rate.batch},
                                    {"fps", rate.frames_per_second},
                                    {"bytes", rate.bytes}});
      }
    }
  }
}

// Rich pictures at low QPs have many items a macroblock (slice_bits_layout.h).
void report_qps(const Clip& clip, const std::vector<int>& qps, int batch, bool quick, Report& report) {
  const FramePool pool(clip, MemoryKind::device);
  for (const Preset preset : {Preset::fast, Preset::balanced}) {
    for (const int qp : qps) {
      Config config = config_of(clip, preset, batch);
      config.profile = Profile::high;
      config.qp = qp;
      const Rate rate = measure_rate(config, pool, quick);
      report.row("whole encode by QP, high", {{"preset", preset == Preset::fast ? "fast" : "balanced"},
                                              {"qp", qp},
                                              {"fps", rate.frames_per_second},
                                              {"bytes", rate.bytes}});
    }
  }
}

void report_latency(const Clip& clip, int qp, bool quick, Report& report) {
  const FramePool pool(clip, MemoryKind::device);
  for (const auto& [preset, name] : kPresets) {
    for (const int slices : {1, 8}) {
      for (const Coding& coding : kCodings) {
        Config config = config_of(clip, preset, 1, slices);
        config.profile = coding.profile, config.cavlc = coding.cavlc;
        config.qp = qp;
        report.row("latency of one picture",
                   {{"preset", name},
                    {"slices", slices},
                    {"profile", coding.name},
                    {"median_ms", median(measure_latency(config, pool, quick)), 3}});
      }
    }
  }
}

int run(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  if (quick) --argc, ++argv;
  const bool encode_only = argc > 1 && std::strcmp(argv[1], "--encode") == 0,
             qps_only = argc > 1 && std::strcmp(argv[1], "--qps") == 0;
  if (encode_only || qps_only) --argc, ++argv;
  if (argc < 3) {
    std::fprintf(stderr,
                 "usage: bench_cabac [--quick] [--encode | --qps] CLIP.yuv WIDTHxHEIGHT [QP [BATCH]]\n");
    return 2;
  }
  const int qp = argc > 3 ? std::atoi(argv[3]) : 27, batch = argc > 4 ? std::atoi(argv[4]) : 0;
  const Clip clip = read_clip(argv[1], argv[2]);
  std::printf("%s, %s\n", device_name().c_str(), clip.name.c_str());
  Report report;
  if (qps_only) {
    const std::vector<int> all = {32, 27, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4};
    report_qps(clip, argc > 3 ? std::vector<int>{qp} : all, batch, quick, report);
    return 0;
  }
  if (!encode_only) report_stages(coded_clip(argv[1], clip.width, clip.height, qp, 8), qp, report);
  report_rates(clip, qp, batch, quick, report);
  report_latency(clip, qp, quick, report);
  return 0;
}

}  // namespace
}  // namespace cu264::bench

int main(int argc, char** argv) {
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);  // as the command does
  try {
    return cu264::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_cabac: %s\n", error.what());
    return 1;
  }
}
