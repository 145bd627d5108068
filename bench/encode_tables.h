// The tables of bench_encode. Each of them is made for one clip.
#pragma once

#include "bench/gpu_bench.h"

namespace cu264::bench {

struct Run {
  CopyRates copies;
  bool quick = false;
  Report report;
  double context_ms = 0;  // what making CUDA's context took
};

// encode_tables.cpp: the whole encoder
void report_memory(const Clip& clip, Run& run);
void report_rates(const Clip& clip, Run& run);
void report_options(const Clip& clip, Run& run);
void report_guides(const Clip& clip, Run& run);
void report_devices(const Clip& clip, Run& run);
void report_latency(const Clip& clip, Run& run);

// opening_table.cpp
void report_opening(const Clip& clip, Run& run);

// rate_control_table.cpp
void report_rate_control(const Clip& clip, Run& run);

// stage_tables.cpp: its stages one by one
void report_stages(const Clip& clip, Run& run);
void report_adaptive_quantisation(const Clip& clip, Run& run);
void report_encryption(const Clip& clip, Run& run);

// pipeline_table.cu: the papers' stages beside those of production
void report_pipeline(const Clip& clip, Run& run);

// nvjpeg_tables.cpp: the same frames by nvJPEG
void report_nvjpeg(const Clip& clip, Run& run);

}  // namespace cu264::bench
