// The names of values: of enumerators, switches and code points.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

#include "cu264/encoder.h"

namespace cu264::encoder {

// The first name of a value is the one that is shown; others are other spellings.
template <typename T>
struct Named {
  const char* name;
  T value;
};

inline constexpr Named<Preset> kPresets[] = {
    {"fast", Preset::fast}, {"balanced", Preset::balanced}, {"best", Preset::best}};
inline constexpr Named<Profile> kProfiles[] = {{"auto", Profile::automatic},
                                               {"automatic", Profile::automatic},
                                               {"baseline", Profile::baseline},
                                               {"main", Profile::main},
                                               {"high", Profile::high}};
inline constexpr Named<BackendChoice> kBackends[] = {
    {"auto", BackendChoice::automatic}, {"cuda", BackendChoice::cuda}, {"cpu", BackendChoice::cpu}};
inline constexpr Named<HeaderPlacement> kPlacements[] = {{"first", HeaderPlacement::first_packet},
                                                         {"every", HeaderPlacement::every_packet},
                                                         {"separate", HeaderPlacement::separate}};
inline constexpr Named<PixelFormat> kFormats[] = {{"i420", PixelFormat::i420},
                                                  {"nv12", PixelFormat::nv12},
                                                  {"gray8", PixelFormat::gray8},
                                                  {"rgb24", PixelFormat::rgb24},
                                                  {"bgr24", PixelFormat::bgr24},
                                                  {"rgba32", PixelFormat::rgba32},
                                                  {"rgb-planar", PixelFormat::rgb_planar},
                                                  {"rgb-float-planar", PixelFormat::rgb_float_planar},
                                                  {"rgb-float", PixelFormat::rgb_float},
                                                  {"rgb-half-planar", PixelFormat::rgb_half_planar},
                                                  {"rgb-half", PixelFormat::rgb_half},
                                                  {"rgb-bfloat16-planar", PixelFormat::rgb_bfloat16_planar},
                                                  {"rgb-bfloat16", PixelFormat::rgb_bfloat16},
                                                  {"bgra32", PixelFormat::bgra32}};
inline constexpr Named<AdaptiveQuantisation> kAqs[] = {{"auto", AdaptiveQuantisation::automatic},
                                                       {"variance", AdaptiveQuantisation::variance},
                                                       {"steps", AdaptiveQuantisation::steps},
                                                       {"edges", AdaptiveQuantisation::edges},
                                                       {"off", AdaptiveQuantisation::off}};
inline constexpr Named<EntropyCoder> kEntropies[] = {{"production", EntropyCoder::production},
                                                     {"cavlcu", EntropyCoder::cavlcu}};
inline constexpr Named<Packing> kPackings[] = {{"production", Packing::production}, {"gvle", Packing::gvle}};
inline constexpr Named<OnOverflow> kOverflows[] = {{"error", OnOverflow::error}, {"drop", OnOverflow::drop}};
inline constexpr Named<bool> kSwitches[] = {{"on", true},   {"off", false},   {"yes", true}, {"no", false},
                                            {"true", true}, {"false", false}, {"1", true},   {"0", false}};
inline constexpr Named<bool> kRanges[] = {{"full", true}, {"limited", false}, {"pc", true}, {"tv", false}};
// Code points of H.273 by the names that x264 gives them. The matrix 0 (RGB) cannot describe 4:2:0.
inline constexpr Named<int> kPrimaries[] = {
    {"undef", 2}, {"bt709", 1},  {"bt470m", 4},    {"bt470bg", 5},   {"smpte170m", 6}, {"smpte240m", 7},
    {"film", 8},  {"bt2020", 9}, {"smpte428", 10}, {"smpte431", 11}, {"smpte432", 12}};
inline constexpr Named<int> kTransfers[] = {
    {"undef", 2},     {"bt709", 1},         {"bt470m", 4},     {"bt470bg", 5},    {"smpte170m", 6},
    {"smpte240m", 7}, {"linear", 8},        {"log100", 9},     {"log316", 10},    {"iec61966-2-4", 11},
    {"bt1361e", 12},  {"iec61966-2-1", 13}, {"bt2020-10", 14}, {"bt2020-12", 15}, {"smpte2084", 16},
    {"smpte428", 17}, {"arib-std-b67", 18}};
inline constexpr Named<int> kMatrices[] = {{"undef", 2},
                                           {"bt709", 1},
                                           {"fcc", 4},
                                           {"bt470bg", 5},
                                           {"smpte170m", 6},
                                           {"smpte240m", 7},
                                           {"YCgCo", 8},
                                           {"bt2020nc", 9},
                                           {"bt2020c", 10},
                                           {"smpte2085", 11},
                                           {"chroma-derived-nc", 12},
                                           {"chroma-derived-c", 13},
                                           {"ICtCp", 14}};

// Returns null for a value without a name.
template <typename T, std::size_t n>
constexpr const char* find_name(const Named<T> (&names)[n], T value) {
  for (const Named<T>& named : names) {
    if (named.value == value) return named.name;
  }
  return nullptr;
}

// Returns the names as "fast, balanced or best".
template <typename T, std::size_t n>
std::string listed(const Named<T> (&names)[n]) {
  std::string list;
  for (std::size_t i = 0; i < n; ++i) {
    if (i > 0) list += i + 1 == n ? " or " : ", ";
    list += names[i].name;
  }
  return list;
}

// Tells whether the name at `i` is the one of its value that is shown.
template <typename T, std::size_t n>
constexpr bool is_shown(const Named<T> (&names)[n], std::size_t i) {
  for (std::size_t before = 0; before < i; ++before) {
    if (names[before].value == names[i].value) return false;
  }
  return true;
}

template <typename T, std::size_t n>
constexpr std::size_t size_of_shown(const Named<T> (&names)[n]) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (is_shown(names, i)) size += std::string_view(names[i].name).size() + 1;
  }
  return size;
}

template <const auto& names>
constexpr auto joined_shown() {
  std::array<char, size_of_shown(names)> text{};  // the null character is where another separator would be
  std::size_t end = 0;
  for (std::size_t i = 0; i < std::size(names); ++i) {
    if (!is_shown(names, i)) continue;
    if (end > 0) text[end++] = '|';
    for (const char c : std::string_view(names[i].name)) text[end++] = c;
  }
  return text;
}

// The names that are shown, as "fast|balanced|best".
template <const auto& names>
inline constexpr auto kShown = joined_shown<names>();

}  // namespace cu264::encoder
