// The encoders of the papers, and one list of all encoders on the GPU.
#pragma once

#include <cstddef>
#include <span>

#include "entropy/vle/device_encoder.h"

namespace cu264::vle {

// An encoder whose preparation and kernels are separate calls, because the papers time the kernels alone.
struct PublishedEncoder {
  const char* name;
  int longest_code;
  int threads;       // of a thread block, unless the caller chooses another number
  int most_threads;  // the largest number a caller may choose, in steps of 32
  std::size_t (*scratch_bytes)(std::size_t size, int threads);
  // Zeroes what the kernels expect to be zero: counters, the scan's state and the output.
  void (*prepare)(const EncodeCall& call, int threads);
  void (*run)(const EncodeCall& call, int threads);
};

// PAVLE (Balevic 2009): shared-memory atomics, a scan of the blocks' lengths, a compaction pass. This one is
// sm64huff, which takes any codes of 16 bits, with DPT 4 and table and codewords cached, the paper's best.
extern const PublishedEncoder kPavle;
// CUVLE (Fuentes-Alventosa et al. 2014): persistent blocks, adjacent synchronisation, direct atomic OR. This
// one has NET 16, the paper's choice.
extern const PublishedEncoder kCuvle;
// YAVLE (Yamamoto et al. 2020): a thread reads its 32 symbols twice, once to measure their codes and once to
// write them; Yamamoto's scan.
extern const PublishedEncoder kYavle;
// The three steps from YAVLE to GVLE. EXP_VLET splits the code table into 16 and 8 bits, EXP_GM loads vectors
// and stores from shared memory, EXP_REG makes thread-codes once, in registers.
extern const PublishedEncoder kExpVlet, kExpGm, kExpReg;
// GVLE (Fuentes-Alventosa et al. 2022): vector loads, segments in registers, warp-codes in shared memory, an
// inter-block scan of its own.
extern const PublishedEncoder kGvle;
// The same five, made faster than in their papers: codes are joined in a window of 64 bits, and those that
// build warp-codes request the next block-input before they write one.
extern const PublishedEncoder kYavleTuned, kExpVletTuned, kExpGmTuned, kExpRegTuned, kGvleTuned;

// PAVLE's sm32 with DPT (words of input that a thread takes) 1, 2, 4 and 8, with the code table in global or
// in shared memory, and with codewords looked up twice or kept; then, with kept codewords and DPT 1, the
// paper's sm32 without a cached table (pavle_sm), sm64huff (pavle_sm64) and gm32 or qm32 (pavle_gm), which
// joins codes in global memory. `longest_code` is 8 for sm32 and gm32: with longer codes those of four
// symbols may have more than 32 bits, which these kernels report as a missing code.
std::span<const PublishedEncoder> pavle_variants();
// The first passes of these and of kPavle alone, whose times the papers call those of the kernel: the blocks'
// codes stay in their slots, and no output is written. pavle_scan is its scan alone, with as many threads as
// DPT 1 has, and as DPT 4.
std::span<const PublishedEncoder> pavle_kernels();
// CUVLE with NET (words of input that a thread takes) 1, 2, 4, 8 and 16.
std::span<const PublishedEncoder> cuvle_variants();

// A published encoder behind the interface of all encoders: it prepares and runs in one call, with thread
// blocks of the published size.
template <const PublishedEncoder& kEncoder>
DeviceEncoder device_encoder() {
  return {kEncoder.name, kEncoder.longest_code,
          [](std::size_t size) { return kEncoder.scratch_bytes(size, kEncoder.threads); },
          [](const EncodeCall& call) {
            kEncoder.prepare(call, kEncoder.threads);
            kEncoder.run(call, kEncoder.threads);
          }};
}

// All encoders: pavle, cuvle, yavle, exp_vlet, exp_gm, exp_reg, gvle, the tuned forms of the last five, then
// fast.
std::span<const DeviceEncoder> device_encoders();

// The published ones among them in the same order; these take thread blocks of any size.
std::span<const PublishedEncoder* const> published_encoders();

}  // namespace cu264::vle
