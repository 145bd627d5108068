#include "app/option_files.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "cu264/status.h"

namespace cu264::app {

PictureRequests read_qp_file(const std::string& path, bool p_pictures) {
  std::error_code unknown;
  std::ifstream file(path);
  if (!file || std::filesystem::is_directory(path, unknown))
    throw Error(ErrorCode::bad_input, path + ": the QPs cannot be read",
                "name a file of lines FRAME TYPE QP");
  PictureRequests requests;
  std::set<std::int64_t> seen;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const auto refuse = [&](const std::string& cause, const std::string& remedy) {
      throw Error(ErrorCode::bad_input, path + ": line " + std::to_string(number) + ": " + cause, remedy);
    };
    std::istringstream words(line);
    std::string type, rest;
    std::int64_t frame = 0;
    int qp = -1;
    if ((words >> std::ws).eof()) continue;
    if (!(words >> frame >> type) || frame < 0)
      refuse("not a picture's QP", "write FRAME TYPE QP, as 12 I 24");
    if (!(words >> std::ws).eof() && !(words >> qp)) refuse("the QP is no number", "write 0 to 51, or -1");
    if (words >> rest) refuse("more than FRAME TYPE QP", "write one picture a line");
    if (type == "B" || type == "b") refuse("a picture of type " + type, "there are no B pictures");
    if (type == "P" && !p_pictures)
      refuse("a picture of type P", "every picture is an IDR picture: write I, or add --gop");
    if (type != "I" && type != "i" && type != "K" && type != "P")
      refuse("an unknown type " + type, "write I, i or K, or P with --gop");
    if (qp < -1 || qp > 51) refuse("QP " + std::to_string(qp), "write 0 to 51, or -1 for no change");
    if (!seen.insert(frame).second) refuse("picture " + std::to_string(frame) + " again", "name it once");
    PictureRequest& request = requests[frame];
    if (qp >= 0) request.qp = qp;
    request.key = type != "P";
  }
  if (file.bad()) throw Error(ErrorCode::bad_input, path + ": the QPs cannot be read");
  return requests;
}

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
