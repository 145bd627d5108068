// GVLE's inter-block scan under its own name. The production kernels use it as it is.
#pragma once

#include "entropy/scan/inter_block_scan.cuh"

namespace cu264::scan {

using GvleScan = InterBlockScan;

}  // namespace cu264::scan
