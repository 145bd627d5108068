// The rate model of the kernels of `reconstruct`. Code that depends on it is compiled once for each model, in
// a namespace of its own. A source file that defines CU264_COUNTS_CABAC has the kernels that count CABAC's
// bits; the other files have those that count CAVLC's.
#pragma once

#if defined(CU264_COUNTS_CABAC)
#include "core/cabac_rate.h"
#define CU264_SEARCH by_cabac
#else
#include "core/rate_model.h"
#define CU264_SEARCH by_cavlc
#endif

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

#if defined(CU264_COUNTS_CABAC)
using SearchRate = core::CabacRate;
#else
using SearchRate = core::CavlcRate;
#endif

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
