#include "encoder/published/open_encoder.h"

#include "encoder/encoder_access.h"
#if defined(CU264_WITH_CUDA)
#include "entropy/cavlc/published/entropy_kernels.h"
#endif

namespace cu264::published {

Encoder open_encoder([[maybe_unused]] const Config& config, [[maybe_unused]] Coder coder) {
#if defined(CU264_WITH_CUDA)
  return encoder::EncoderAccess::open(config,
                                      coder == Coder::cavlcu ? &entropy::kCavlcu : &entropy::kCavlcSu);
#else
  throw Error(ErrorCode::device_unavailable, "this build has no CUDA backend",
              "leave entropy-kernel at production, or build with CUDA");
#endif
}

}  // namespace cu264::published
