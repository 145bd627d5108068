// A variable-length code for bytes: what every encoder and decoder here takes. The families of encoders
// differ in the longest code: 16 bits where tables are split in 16 and 8 bits (GVLE 3), 32 for CUVLE and
// PAVLE.
#pragma once

#include "cu264/vle_types.h"
