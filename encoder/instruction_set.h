// The instruction sets that parts of the library are compiled for, each in a namespace of its own
// (isa_portable and so on). All give the same results.
#pragma once

namespace cu264::encoder {

enum class InstructionSet { portable, x86_64_v3, x86_64_v4 };  // v3: AVX2, BMI2; v4: AVX-512

// The newest one that the processor supports and the library was compiled for.
InstructionSet newest_instruction_set();

}  // namespace cu264::encoder
