// YAVLE: the kernel of Yamamoto et al. (ICPP 2020) as thesis 2.3, section 2.3 and algorithm 1 describe it.
// EXP_VLET, the first step of the ablation, is the same kernel with the code table of GVLE (section 4.2.1).
//
// docs/papers.md lists what differs from the published form. Words are built in a window of 64 bits;
// thread-inputs are aligned wherever the input begins; nothing is written past the end of the output.
#include "entropy/scan/published/yamamoto_scan.cuh"
#include "entropy/vle/published/published_encoders.h"
#include "entropy/vle/published/yavle_kernel.cuh"

namespace cu264::vle {
namespace {

void run_yavle(const EncodeCall& call, int threads) {
  launch_persistent<32, scan::YamamotoScan>(yavle_kernel<scan::YamamotoScan, PairTable>, "yavle", call,
                                            threads);
}

void run_exp_vlet(const EncodeCall& call, int threads) {
  launch_persistent<32, scan::YamamotoScan>(yavle_kernel<scan::YamamotoScan, SplitTable>, "exp_vlet", call,
                                            threads);
}

}  // namespace

const PublishedEncoder kYavle = persistent_encoder<32, scan::YamamotoScan, kShortCode>("yavle", run_yavle);
const PublishedEncoder kExpVlet =
    persistent_encoder<32, scan::YamamotoScan, kShortCode>("exp_vlet", run_exp_vlet);

}  // namespace cu264::vle
