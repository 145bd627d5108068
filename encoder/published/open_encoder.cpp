#include "encoder/published/open_encoder.h"

#include "encoder/encoder_access.h"
#if defined(CU264_WITH_CUDA)
#include "entropy/cavlc/published/entropy_kernels.h"
#endif

namespace cu264::published {

#if defined(CU264_WITH_CUDA)
namespace {

const entropy::EntropyKernel& kernel_of(Coder coder) {
  switch (coder) {
    case Coder::cavlcu:
      return entropy::kCavlcu;
    case Coder::cavlcu_tuned:
      return entropy::kCavlcuTuned;
    case Coder::cavlc_su:
      break;
  }
  return entropy::kCavlcSu;
}

}  // namespace
#endif

Encoder open_encoder([[maybe_unused]] const Config& config, [[maybe_unused]] Coder coder) {
#if defined(CU264_WITH_CUDA)
  return encoder::EncoderAccess::open(config, &kernel_of(coder));
#else
  throw Error(ErrorCode::device_unavailable, "this build has no CUDA backend",
              "leave entropy-kernel at production, or build with CUDA");
#endif
}

}  // namespace cu264::published
