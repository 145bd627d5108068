// A packer of CAVLC's slices made of the steps of GVLE (Fuentes-Alventosa, Gomez-Luna, Medina-Carnicer, The
// Journal of Supercomputing, 2022; thesis 2.3). The paper packs the Huffman codes of one array of bytes; here
// the items are the codes that the entropy coder leaves, and every slice is an array of its own.
// docs/pipeline.md shows each step, and what differs.
#pragma once

#include "entropy/pack/pack_batch.h"

namespace cu264::entropy {

// Packs the codes of blocks as they are if the coder leaves them (EntropyKernel::launch_blocks), and
// otherwise the bits of groups.
extern const Packer kGvlePacker;

}  // namespace cu264::entropy
