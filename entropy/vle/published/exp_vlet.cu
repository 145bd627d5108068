// EXP_VLET: YAVLE with the code table of GVLE (thesis 2.3, section 4.2.1).
#include "entropy/vle/published/exp_vlet.h"

#include "entropy/scan/published/yamamoto_scan.cuh"
#include "entropy/vle/published/yavle_kernel.cuh"

namespace cu264::vle {
namespace {

void run(const EncodeCall& call, int threads) {
  launch_persistent<32, scan::YamamotoScan>(yavle_kernel<scan::YamamotoScan, SplitTable>, "exp_vlet", call,
                                            threads);
}

}  // namespace

const PublishedEncoder kExpVlet{"exp_vlet",
                                kShortCode,
                                128,
                                1024,
                                persistent_scratch_bytes<32, scan::YamamotoScan>,
                                prepare_persistent<32, scan::YamamotoScan, kShortCode>,
                                run};

}  // namespace cu264::vle
