// The search depends on the compiler's vector code, so it is compiled once for each instruction set. Each
// build has a namespace of its own (CU264_ISA), and the newest that the processor supports is called.
#pragma once

#ifndef CU264_ISA
#define CU264_ISA isa_portable
#endif
