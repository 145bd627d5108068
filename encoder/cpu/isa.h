// The search runs at the speed of the compiler's vector code, so it is compiled once per instruction set;
// each build of it lives in a namespace of its own (CU264_ISA) and the newest that the processor has is
// called.
#pragma once

#ifndef CU264_ISA
#define CU264_ISA isa_portable
#endif
