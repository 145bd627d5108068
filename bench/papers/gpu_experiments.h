// The measurements on the GPU, one function for each line of the list in gpu_experiments.cpp.
#pragma once

#include <string>
#include <vector>

namespace cu264::bench {

using Arguments = std::vector<std::string>;

void vle_sweep(const Arguments& arguments);
void vle_files(const Arguments& arguments);
void vle_threads(const Arguments& arguments);
void vle_scans(const Arguments& arguments);
void rle_sweep(const Arguments& arguments);
void canny_times(const Arguments& arguments);

}  // namespace cu264::bench
