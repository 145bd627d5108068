// EXP_REG: GVLE with Yamamoto's inter-block scan (thesis 2.3, section 4.2.3).
#include "entropy/vle/published/exp_reg.h"

#include "entropy/scan/published/yamamoto_scan.cuh"
#include "entropy/vle/published/gvle_kernel.cuh"

namespace cu264::vle {
namespace {

void run(const EncodeCall& call, int threads) {
  launch_persistent<32, scan::YamamotoScan>(gvle_kernel<scan::YamamotoScan>, "exp_reg", call, threads,
                                            warp_code_bytes(threads));
}

}  // namespace

const PublishedEncoder kExpReg{"exp_reg",
                               kShortCode,
                               128,
                               1024,
                               persistent_scratch_bytes<32, scan::YamamotoScan>,
                               prepare_persistent<32, scan::YamamotoScan, kShortCode>,
                               run};

}  // namespace cu264::vle
