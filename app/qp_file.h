// The file of --qpfile, in x264's form: a line "FRAME TYPE QP" for each picture that is to have a QP of its
// own.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace cu264::app {

// The QP by the number of the picture, from 0. A QP of -1, or none, leaves the picture to the encoder. TYPE
// is I, i or K: every picture is an IDR picture. Throws Error(bad_input), which names the line.
std::map<std::int64_t, int> read_qp_file(const std::string& path);

}  // namespace cu264::app
