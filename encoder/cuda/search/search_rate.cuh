// The rate model of the kernels of `reconstruct`. Code that depends on it is compiled once for each model, in
// a namespace of its own. A source file that defines CU264_COUNTS_CABAC has the kernels that count CABAC's
// bits; the other files have those that count CAVLC's. A file that defines CU264_SEARCHES_P has those of P
// pictures, whose lambdas are greater.
#pragma once

#include "core/qp_settings.h"

#if defined(CU264_COUNTS_CABAC)
#include "core/cabac_rate.h"
#else
#include "core/rate_model.h"
#endif
#include "core/rdoq.h"

#if defined(CU264_COUNTS_CABAC) && defined(CU264_SEARCHES_P)
#define CU264_SEARCH p_by_cabac
#elif defined(CU264_COUNTS_CABAC)
#define CU264_SEARCH by_cabac
#elif defined(CU264_SEARCHES_P)
#define CU264_SEARCH p_by_cavlc
#else
#define CU264_SEARCH by_cavlc
#endif

namespace cu264::encoder::cuda {
inline namespace CU264_SEARCH {

#if defined(CU264_COUNTS_CABAC)
using SearchRate = core::CabacRate;
#else
using SearchRate = core::CavlcRate;
#endif

// RDOQ's lambda (core/rdoq.h).
#if defined(CU264_SEARCHES_P)
inline constexpr std::int64_t kSearchRdoqLambda = core::p_rdoq_lambda();
#else
inline constexpr std::int64_t kSearchRdoqLambda = core::kRdoqLambda;
#endif

}  // namespace CU264_SEARCH
}  // namespace cu264::encoder::cuda
