// Config::set and the command line's parser on arbitrary text: a value is accepted, or
// Error(invalid_argument) says in one line why not.
//
// The input is a byte for the mode, followed by words that each end with a newline.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "app/options.h"
#include "cu264/encoder.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check_error(const cu264::Error& error) {
  require(error.code() == cu264::ErrorCode::invalid_argument ||
          error.code() == cu264::ErrorCode::unsupported);
  require(error.what()[0] != '\0');
}

void set_all(const std::vector<std::string>& words) {
  cu264::Config config;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    try {
      config.set(words[i], words[i + 1]);
    } catch (const cu264::Error& error) {
      check_error(error);
    }
    require(config.qp >= 0 && config.qp <= 51);
    require(config.slices >= 1 && config.threads >= 0);
    require(config.width >= 0 && config.width <= 8192 && config.height >= 0 && config.height <= 8192);
    require(config.frame_rate.num > 0 && config.frame_rate.den > 0);
    require(config.sample_aspect_ratio.num >= 0 && config.sample_aspect_ratio.den > 0);
  }
}

void parse(const std::vector<std::string>& words) {
  try {
    const auto options = cu264::app::parse_encode_options(words);
    if (options) require(!options->output.empty() && !options->reader.input.path.empty());
  } catch (const cu264::Error& error) {
    check_error(error);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::vector<std::string> words(1);
  for (std::size_t i = 1; i < size; ++i) {
    if (data[i] == '\n') {
      words.emplace_back();
    } else if (data[i] != 0) {  // no argument of a command holds a null character
      words.back() += static_cast<char>(data[i]);
    }
  }
  if (data[0] % 2 == 0) {
    set_all(words);
  } else {
    parse(words);
  }
  return 0;
}
