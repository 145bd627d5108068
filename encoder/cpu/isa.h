// The search depends on the compiler's vector code and on the rate model, so it is compiled once for each
// instruction set and each model. Each build has a namespace of its own (CU264_ISA). At run time the newest
// instruction set that the processor supports is used.
#pragma once

#ifndef CU264_ISA
#define CU264_ISA isa_portable
#endif

#if defined(CU264_COUNTS_CABAC)
#include "core/cabac_rate.h"
namespace cu264::encoder::CU264_ISA {
using SearchRate = core::CabacRate;
}
#else
#include "core/rate_model.h"
namespace cu264::encoder::CU264_ISA {
using SearchRate = core::CavlcRate;
}
#endif
