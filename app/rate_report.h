// Describes for reports what a Config asks for, of rate control above all.
#pragma once

#include <string>

#include "cu264/encoder.h"
#include "io/statistics.h"

namespace cu264::app {

// Returns text such as "qp 27", "crf 23" or "2000 kb/s, bufsize 2000, cbr": what was asked for, by the
// options' names.
std::string rate_text(const Config& config);

// Adds to the settings of --stats the options that decide the bytes and are not as by default, under the
// names of Config's fields; rates and sizes are in bits, limits in bytes.
void add_options(const Config& config, io::Json& settings);

}  // namespace cu264::app
