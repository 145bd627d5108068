// YAVLE: the kernel of Yamamoto et al. (ICPP 2020) as thesis 2.3, section 2.3 describes it.
//
// As published but for this: thread-inputs are aligned wherever the input begins, and the output knows its
// end.
#include "entropy/vle/published/yavle.h"

#include "entropy/scan/published/yamamoto_scan.cuh"
#include "entropy/vle/published/yavle_kernel.cuh"

namespace cu264::vle {
namespace {

void run(const EncodeCall& call, int threads) {
  launch_persistent<32, scan::YamamotoScan>(yavle_kernel<scan::YamamotoScan, PairTable>, "yavle", call,
                                            threads);
}

}  // namespace

const PublishedEncoder kYavle{"yavle",
                              kShortCode,
                              128,
                              1024,
                              persistent_scratch_bytes<32, scan::YamamotoScan>,
                              prepare_persistent<32, scan::YamamotoScan, kShortCode>,
                              run};

}  // namespace cu264::vle
