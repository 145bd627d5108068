// YAVLE: the kernel of Yamamoto et al. (ICPP 2020) as thesis 2.3, section 2.3 and algorithm 1 describe it.
// EXP_VLET, the first step of the ablation, is the same kernel with the code table of GVLE (section 4.2.1).
// The tuned forms differ in one thing: they join codes in a window of 64 bits.
//
// docs/papers.md lists what differs from the published form. Thread-inputs are aligned wherever the input
// begins; nothing is written past the end of the output.
#include "entropy/scan/published/yamamoto_scan.cuh"
#include "entropy/vle/published/published_encoders.h"
#include "entropy/vle/published/word_builder.cuh"
#include "entropy/vle/published/word_window.cuh"
#include "entropy/vle/published/yavle_kernel.cuh"

namespace cu264::vle {
namespace {

template <class Window, class Table>
void run(const EncodeCall& call, int threads) {
  launch_persistent<32, scan::YamamotoScan>(yavle_kernel<Window, scan::YamamotoScan, Table>, "yavle", call,
                                            threads);
}

template <class Window, class Table>
constexpr PublishedEncoder yavle(const char* name) {
  return persistent_encoder<32, scan::YamamotoScan, kShortCode>(name, run<Window, Table>);
}

}  // namespace

const PublishedEncoder kYavle = yavle<WordValue, PairTable>("yavle");
const PublishedEncoder kExpVlet = yavle<WordValue, SplitTable>("exp_vlet");
const PublishedEncoder kYavleTuned = yavle<WordBuilder, PairTable>("yavle_tuned");
const PublishedEncoder kExpVletTuned = yavle<WordBuilder, SplitTable>("exp_vlet_tuned");

}  // namespace cu264::vle
