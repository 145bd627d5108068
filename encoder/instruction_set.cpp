#include "encoder/instruction_set.h"

namespace cu264::encoder {

InstructionSet newest_instruction_set() {
#if defined(CU264_X86_64_LEVELS)
  if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd")) {
    return InstructionSet::x86_64_v4;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma")) {
    return InstructionSet::x86_64_v3;
  }
#endif
  return InstructionSet::portable;
}

}  // namespace cu264::encoder
