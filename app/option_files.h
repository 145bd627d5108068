// Files that options of `cu264 encode` name.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "cu264/scaling_lists.h"

namespace cu264::app {

// Reads the file of --qpfile, in x264's form: a line "FRAME TYPE QP" for each picture that is to have a QP of
// its own. Returns the QP by the number of the picture, from 0. A QP of -1, or none, leaves the picture to
// the encoder. TYPE is I, i or K: every picture is an IDR picture. Throws Error(bad_input), which names the
// line.
std::map<std::int64_t, int> read_qp_file(const std::string& path);

// Reads the file of --cqmfile: scaling lists in the form of the JM's and x264's files. Throws
// Error(bad_input), which names the file and its line.
ScalingLists read_scaling_list_file(const std::string& path);

}  // namespace cu264::app
