// The builds of the search that this library holds: one a namespace, all with the same results.
#pragma once

#include "cu264/encoder.h"
#include "encoder/cpu/isa.h"
#include "encoder/cpu_picture.h"

namespace cu264::encoder {

namespace isa_portable {
void reconstruct_slice(CpuPicture& picture, int slice, int qp, Preset preset);
}
namespace isa_x86_64_v3 {  // AVX2, BMI2
void reconstruct_slice(CpuPicture& picture, int slice, int qp, Preset preset);
}
namespace isa_x86_64_v4 {  // AVX-512
void reconstruct_slice(CpuPicture& picture, int slice, int qp, Preset preset);
}

}  // namespace cu264::encoder
