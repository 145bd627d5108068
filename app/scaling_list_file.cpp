#include "app/scaling_list_file.h"

#include <filesystem>
#include <fstream>

#include "cu264/status.h"

namespace cu264::app {

ScalingLists read_scaling_list_file(const std::string& path) {
  std::error_code unknown;
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path, unknown)) {
    throw Error(ErrorCode::bad_input, path + ": the scaling lists cannot be read",
                "name a file of lists as INTRA4X4_LUMA = and 16 numbers");
  }
  std::string text(kMaxScalingListText + 1, '\0');  // one more byte shows that the file continues
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) throw Error(ErrorCode::bad_input, path + ": the scaling lists cannot be read");
  text.resize(static_cast<std::size_t>(file.gcount()));
  try {
    return parse_scaling_lists(text);
  } catch (const Error& error) {
    throw Error(ErrorCode::bad_input, path + ": " + error.what());
  }
}

}  // namespace cu264::app
