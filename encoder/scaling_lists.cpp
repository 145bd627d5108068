#include "cu264/scaling_lists.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>

#include "core/block.h"

namespace cu264 {
namespace {

// A list of a file. Those without a place are not used by intra pictures in 4:2:0.
struct NamedList {
  std::string_view name;
  std::size_t size;
  std::uint8_t* (*first)(ScalingLists&);
  std::uint8_t* (*second)(ScalingLists&);
};

std::uint8_t* none(ScalingLists&) {
  return nullptr;
}
std::uint8_t* luma4x4(ScalingLists& lists) {
  return lists.luma4x4.data();
}
std::uint8_t* cb4x4(ScalingLists& lists) {
  return lists.cb4x4.data();
}
std::uint8_t* cr4x4(ScalingLists& lists) {
  return lists.cr4x4.data();
}
std::uint8_t* luma8x8(ScalingLists& lists) {
  return lists.luma8x8.data();
}

constexpr NamedList kLists[] = {
    {"INTRA4X4_LUMA", 16, luma4x4, none},  {"INTRA4X4_CHROMA", 16, cb4x4, cr4x4},
    {"INTRA4X4_CHROMAU", 16, cb4x4, none}, {"INTRA4X4_CHROMAV", 16, cr4x4, none},
    {"INTER4X4_LUMA", 16, none, none},     {"INTER4X4_CHROMA", 16, none, none},
    {"INTER4X4_CHROMAU", 16, none, none},  {"INTER4X4_CHROMAV", 16, none, none},
    {"INTRA8X8_LUMA", 64, luma8x8, none},  {"INTRA8X8_CHROMA", 64, none, none},
    {"INTRA8X8_CHROMAU", 64, none, none},  {"INTRA8X8_CHROMAV", 64, none, none},
    {"INTER8X8_LUMA", 64, none, none},     {"INTER8X8_CHROMA", 64, none, none},
    {"INTER8X8_CHROMAU", 64, none, none},  {"INTER8X8_CHROMAV", 64, none, none},
};
constexpr std::size_t kMaxListSize = 64;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_of_word(char c) {
  return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

class ListParser {
 public:
  explicit ListParser(std::string_view text) : rest_(text) {}

  ScalingLists parse() {
    bool found = false;
    for (skip_space(); !rest_.empty(); skip_space()) {
      parse_list();
      found = true;
    }
    if (!found) refuse("there is no list", "write NAME = and its numbers, as INTRA4X4_LUMA = 6,13,...");
    return lists_;
  }

 private:
  [[noreturn]] void refuse(const std::string& cause, const std::string& remedy) const {
    throw Error(ErrorCode::invalid_argument, "scaling lists, line " + std::to_string(line_) + ": " + cause,
                remedy);
  }

  // Skips what separates words: space, commas and comments.
  void skip_space() {
    bool comment = false;
    while (!rest_.empty()) {
      const char c = rest_.front();
      if (c == '\n') {
        ++line_;
        comment = false;
      } else if (c == '#') {
        comment = true;
      }
      if (!comment && c != '\n' && c != '\r' && c != ' ' && c != '\t' && c != ',') return;
      rest_.remove_prefix(1);
    }
  }

  // The longest run of letters and digits, or one other character.
  std::string_view take_word() {
    std::size_t length = 0;
    while (length < rest_.size() && is_of_word(rest_[length])) ++length;
    const std::string_view word = rest_.substr(0, std::max<std::size_t>(length, 1));
    rest_.remove_prefix(word.size());
    return word;
  }

  // A word as an error shows it.
  static std::string shown(std::string_view word) {
    constexpr std::size_t kMaxWordLength = 32;
    if (word.size() == 1 && (word[0] < ' ' || word[0] > '~')) return "an unprintable character";
    std::string text = "\"";
    text.append(word.substr(0, kMaxWordLength)).append(word.size() > kMaxWordLength ? "...\"" : "\"");
    return text;
  }

  void parse_list() {
    const int line = line_;
    const std::string_view name = take_word();
    const auto* const list = std::find_if(std::begin(kLists), std::end(kLists),
                                          [&](const NamedList& each) { return each.name == name; });
    if (list == std::end(kLists)) {
      if (is_digit(name.front())) refuse(shown(name) + " is one number too many", "a list has 16 or 64");
      refuse(shown(name) + " is no list",
             "name INTRA4X4_LUMA, INTRA4X4_CHROMAU, INTRA4X4_CHROMAV or INTRA8X8_LUMA");
    }
    bool& again = seen_[list - std::begin(kLists)];
    if (again) refuse(std::string(name) + " is there again", "write each list once");
    again = true;
    skip_space();
    if (rest_.empty() || take_word() != "=")
      refuse("no = follows " + std::string(name), "write NAME = and its numbers");
    std::uint8_t weights[kMaxListSize];
    for (std::size_t i = 0; i < list->size; ++i) weights[i] = parse_weight(*list, i, line);
    for (std::uint8_t* const to : {list->first(lists_), list->second(lists_)}) {
      if (to != nullptr) std::copy_n(weights, list->size, to);
    }
  }

  // `line`: of the list's name.
  std::uint8_t parse_weight(const NamedList& list, std::size_t index, int line) {
    skip_space();
    if (rest_.empty() || (is_of_word(rest_.front()) && !is_digit(rest_.front()))) {
      line_ = line;
      refuse(std::string(list.name) + " has only " + std::to_string(index) + " of " +
                 std::to_string(list.size) + " numbers",
             "write all of them");
    }
    const std::string_view word = take_word();
    int weight = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), weight);
    if (error != std::errc{} || stop != word.data() + word.size() || weight < 1 || weight > 255)
      refuse(shown(word) + " is no weight", "write a whole number from 1 to 255");
    return static_cast<std::uint8_t>(weight);
  }

  std::string_view rest_;
  int line_ = 1;
  ScalingLists lists_;
  bool seen_[std::size(kLists)] = {};
};

}  // namespace

ScalingLists jvt_scaling_lists() {
  // In the order of the zigzag scan, as in the tables.
  static constexpr std::uint8_t intra4x4[16] = {6,  13, 13, 20, 20, 20, 28, 28,
                                                28, 28, 32, 32, 32, 37, 37, 42};
  static constexpr std::uint8_t intra8x8[64] = {
      6,  10, 10, 13, 11, 13, 16, 16, 16, 16, 18, 18, 18, 18, 18, 23, 23, 23, 23, 23, 23, 25,
      25, 25, 25, 25, 25, 25, 27, 27, 27, 27, 27, 27, 27, 27, 29, 29, 29, 29, 29, 29, 29, 31,
      31, 31, 31, 31, 31, 33, 33, 33, 33, 33, 36, 36, 36, 36, 38, 38, 38, 40, 40, 42};
  ScalingLists lists;
  for (int k = 0; k < 16; ++k)
    lists.luma4x4[static_cast<std::size_t>(core::zigzag_to_raster(k))] = intra4x4[k];
  for (int k = 0; k < 64; ++k)
    lists.luma8x8[static_cast<std::size_t>(core::zigzag8x8_to_raster(k))] = intra8x8[k];
  lists.cb4x4 = lists.cr4x4 = lists.luma4x4;
  return lists;
}

ScalingLists parse_scaling_lists(std::string_view text) {
  if (text.size() > kMaxScalingListText) {
    throw Error(ErrorCode::invalid_argument, "scaling lists of more than 64 KiB",
                "name a file of lists as the JM and x264 have them");
  }
  return ListParser(text).parse();
}

}  // namespace cu264
