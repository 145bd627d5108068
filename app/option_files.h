// Files that options of `cu264 encode` name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "cu264/scaling_lists.h"

namespace cu264::app {

// What a line of --qpfile asks for.
struct PictureRequest {
  std::optional<int> qp;
  bool key = false;
};
using PictureRequests = std::map<std::int64_t, PictureRequest>;  // by the number of the picture, from 0

// Reads the file of --qpfile, in x264's form: a line "FRAME TYPE QP" for each picture that something is asked
// for. A QP of -1, or none, leaves the QP to the encoder. TYPE is I, i or K for a key picture, or with
// `p_pictures` P for a picture of either type. Throws Error(bad_input), which names the line.
PictureRequests read_qp_file(const std::string& path, bool p_pictures);

// Reads the file of --cqmfile: scaling lists in the form of the JM's and x264's files. Throws
// Error(bad_input), which names the file and its line.
ScalingLists read_scaling_list_file(const std::string& path);

}  // namespace cu264::app
