// The encoders that the authors of GVLE and of YAVLE published, if the build was told where their code lies
// (CU264_GVLE_ROOT, CU264_GAP_ARRAYS_ROOT). It is not part of this project.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "entropy/vle/published/published_encoders.h"

namespace cu264::bench {

// `timed` launches the authors' kernel alone. `checked` also turns its words into a stream of bytes and
// reports the length, so that the result can be compared.
struct AuthorsEncoder {
  vle::PublishedEncoder timed, checked;
};

AuthorsEncoder authors_gvle();
AuthorsEncoder authors_yavle();

inline std::vector<AuthorsEncoder> authors_encoders() {
  std::vector<AuthorsEncoder> encoders;
#if defined(CU264_WITH_AUTHORS_GVLE)
  encoders.push_back(authors_gvle());
#endif
#if defined(CU264_WITH_AUTHORS_YAVLE)
  encoders.push_back(authors_yavle());
#endif
  return encoders;
}

#if defined(__CUDACC__)
// The authors' streams are words whose most significant bit comes first.
inline __global__ void swap_words(std::uint32_t* d_words, std::size_t count) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) d_words[i] = __byte_perm(d_words[i], 0, 0x0123);
}
inline void launch_swap_words(const vle::EncodeCall& call) {
  const std::size_t words = call.capacity / 4;
  swap_words<<<static_cast<unsigned>((words + 255) / 256), 256>>>(
      reinterpret_cast<std::uint32_t*>(call.d_output), words);
}
#endif

}  // namespace cu264::bench
