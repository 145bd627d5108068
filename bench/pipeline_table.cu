// Times the papers' stages on the GPU beside those of production and beside the papers' baselines: CAVLCU and
// CAVLC_SU, GVLE's packer and YAVLE's. All forms get the same levels and leave the same bytes.
#include <functional>
#include <string>

#include "bench/encode_rate.h"
#include "bench/encode_tables.h"
#include "bench/stage_bench.h"
#include "common/cuda/handles.h"
#include "entropy/cavlc/published/block_codes.h"
#include "entropy/cavlc/published/entropy_kernels.h"
#include "entropy/cavlc/published/raster_input.h"
#include "entropy/pack/pack_stages.cuh"
#include "entropy/pack/published/gvle_packer.h"
#include "entropy/pack/published/yavle_packer.h"

namespace cu264::bench {
namespace {

using entropy::EntropyKernel;
using entropy::LaunchCode;
using entropy::Packer;

// A stage is timed alone in the place where it runs: packers that do not pack, coders that leave what an
// earlier run left.
std::size_t no_memory(int, int, int, int) {
  return 0;
}
const Packer kCodesOnly{
    "codes only", no_memory,
    [](const entropy::PackJob& job, const EntropyKernel* kernel, const LaunchCode& code, void*,
       cudaStream_t stream) { entropy::launch_code_of(job, kernel, code, stream); }};
const Packer kCodesBlocksOnly{"codes blocks only", no_memory,
                              [](const entropy::PackJob& job, const EntropyKernel* kernel, const LaunchCode&,
                                 void*, cudaStream_t stream) {
                                kernel->launch_blocks(job.batch, job.scratch.code, job.scratch.kernel,
                                                      stream);
                              }};
const Packer kRasterOnly{"raster order only",
                         [](int pictures, int mb_width, int mb_height, int) {
                           return entropy::raster_input_bytes(pictures, mb_width, mb_height);
                         },
                         [](const entropy::PackJob& job, const EntropyKernel*, const LaunchCode&, void* own,
                            cudaStream_t stream) { entropy::launch_raster_input(job.batch, own, stream); }};
const LaunchCode kCodedBefore = [](const core::BatchView&, const entropy::CodeScratch&,
                                   const entropy::GroupBits&, cudaStream_t) {};
// Blocks that CAVLCU coded in the same scratch: they come first in its memory.
const EntropyKernel kBlocksCodedBefore{
    "coded before", entropy::kCavlcu.scratch_bytes, nullptr,
    [](const core::BatchView& batch, const entropy::CodeScratch&, void* own, CUstream_st*) {
      Arena arena(own);
      return entropy::take_block_codes(
          arena, entropy::block_code_count(batch.pictures, batch.mb_width, batch.mb_height));
    }};

class Stages {
 public:
  static constexpr int kBatch = 64;

  Stages(const Clip& clip, const FramePool& pool) : bench_(clip, pool, config(clip), kBatch), runs_(15) {
    bench_.reconstruct();
  }

  static Config config(const Clip& clip) { return config_of(clip, Preset::fast, kBatch); }
  double search() const {
    return time([&] { bench_.reconstruct(); });
  }
  // Kernels and packers may be null, for production.
  double code(const EntropyKernel* kernel, const Packer& only) const {
    const PackMemory scratch(bench_.view(), kernel, &only);
    return time([&] { bench_.code_and_pack(scratch.get(), kernel, entropy::launch_code, &only); });
  }
  double pack_groups(const Packer* packer) const {
    const PackMemory scratch(bench_.view(), nullptr, packer);
    bench_.code_and_pack(scratch.get(), nullptr, entropy::launch_code, packer);
    return time([&] { bench_.code_and_pack(scratch.get(), nullptr, kCodedBefore, packer); });
  }
  double pack_blocks(const Packer& packer) const {
    const PackMemory scratch(bench_.view(), &entropy::kCavlcu, &packer);
    bench_.code_and_pack(scratch.get(), &entropy::kCavlcu, entropy::launch_code, &packer);
    return time([&] { bench_.code_and_pack(scratch.get(), &kBlocksCodedBefore, kCodedBefore, &packer); });
  }
  double code_and_pack(const EntropyKernel* kernel, const Packer* packer) const {
    const PackMemory scratch(bench_.view(), kernel, packer);
    return time([&] { bench_.code_and_pack(scratch.get(), kernel, entropy::launch_code, packer); });
  }

 private:
  class PackMemory {
   public:
    PackMemory(const core::BatchView& view, const EntropyKernel* kernel, const Packer* packer)
        : d_memory_(allocate_device(entropy::pack_scratch_bytes(view.pictures, view.mb_width, view.mb_height,
                                                                view.slices, kernel, packer),
                                    0)) {
      entropy::launch_prepare_pack(d_memory_.get(), nullptr);
    }
    void* get() const { return d_memory_.get(); }

   private:
    DeviceAllocation d_memory_;
  };

  // Microseconds a picture.
  double time(const std::function<void()>& launch) const {
    return 1e3 * device_milliseconds(runs_, launch) / kBatch;
  }

  const StageBench bench_;
  const int runs_;
};

double encode_us(const Config& config, const FramePool& pool, bool quick) {
  return 1e6 / measure_rate(config, pool, quick).frames_per_second;
}

}  // namespace

void report_pipeline(const Clip& clip, Run& run) {
  const FramePool pool(clip, MemoryKind::device, 2 * Stages::kBatch);
  const auto row = [&](const std::string& stage, double production, double published, double baseline) {
    const auto field = [](const char* name, double time) {
      return time < 0 ? Field(name, std::string("-")) : Field(name, time, 2);
    };
    run.report.row("pipeline, us a picture", {{"clip", clip.name},
                                              {"stage", stage},
                                              field("production", production),
                                              field("published", published),
                                              field("baseline", baseline)});
  };
  constexpr double kNone = -1;
  Config guided = Stages::config(clip);
  guided.edge_guided = 2;
  {
    const StageBench bench(clip, pool, guided, Stages::kBatch);
    const double guide =
        1e3 * device_milliseconds(15, [&] { bench.adaptive_quantisation(); }) / Stages::kBatch;
    row("edge guide", kNone, guide, kNone);
  }
  {
    const Stages stages(clip, pool);
    const double search = stages.search();
    row("search", search, search, kNone);
    row("levels to raster order, the input of CAVLCU and CAVLC_SU", kNone, stages.code(nullptr, kRasterOnly),
        kNone);
    row("code, raster order and blocks (CAVLCU)", kNone, stages.code(&entropy::kCavlcu, kCodesBlocksOnly),
        kNone);
    row("code, joined (CAVLCU; CAVLC_SU)", stages.code(nullptr, kCodesOnly),
        stages.code(&entropy::kCavlcu, kCodesOnly), stages.code(&entropy::kCavlcSu, kCodesOnly));
    row("pack, blocks (GVLE; YAVLE)", kNone, stages.pack_blocks(entropy::kGvlePacker),
        stages.pack_blocks(entropy::kYavlePacker));
    row("pack, groups (GVLE; YAVLE)", stages.pack_groups(nullptr), stages.pack_groups(&entropy::kGvlePacker),
        stages.pack_groups(&entropy::kYavlePacker));
    row("code+pack (CAVLCU, GVLE; CAVLC_SU, YAVLE)", stages.code_and_pack(nullptr, nullptr),
        stages.code_and_pack(&entropy::kCavlcu, &entropy::kGvlePacker),
        stages.code_and_pack(&entropy::kCavlcSu, &entropy::kYavlePacker));
  }
  for (const auto& [preset, name] : kPresets) {
    if (run.quick && preset != Preset::fast) continue;
    Config config = Stages::config(clip);
    config.preset = preset, config.batch = 0;
    config.edge_guided = 2;
    const double production = encode_us(config, pool, run.quick);
    config.set("pipeline", "published");
    row(std::string("whole encode with edges, ") + name, production, encode_us(config, pool, run.quick),
        kNone);
  }
}

}  // namespace cu264::bench
