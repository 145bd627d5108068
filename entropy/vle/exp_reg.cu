// EXP_REG: GVLE with Yamamoto's inter-block scan (thesis 2.3, section 4.2.3).
#include "entropy/vle/exp_reg.h"

#include "entropy/vle/gvle.cuh"
#include "entropy/vle/scan_methods.cuh"

namespace cu264::vle {
namespace {

void run(const EncodeCall& call, int threads) {
  launch_persistent<32, YamamotoScan>(gvle_kernel<YamamotoScan>, "exp_reg", call, threads,
                                      warp_code_bytes(threads));
}

}  // namespace

const PublishedEncoder kExpReg{"exp_reg",
                               kShortCode,
                               128,
                               1024,
                               persistent_scratch_bytes<32, YamamotoScan>,
                               prepare_persistent<32, YamamotoScan, kShortCode>,
                               run};

}  // namespace cu264::vle
