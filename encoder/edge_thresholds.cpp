#include "encoder/edge_thresholds.h"

#include <charconv>
#include <cmath>
#include <cstdio>

namespace cu264::encoder {
namespace {

struct NamedPartition {
  const char* name;
  canny::Partition partition;
};

constexpr NamedPartition kPartitions[] = {{"distributed", canny::Partition::columns},
                                          {"rows", canny::Partition::rows},
                                          {"frame", canny::Partition::frame}};
// The paper's C0.01, which is finer than the usual C0.03.
constexpr std::string_view kFiner = "-0.01";

std::optional<int> parse_hundredths(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const double scaled = 100 * number;
  if (error != std::errc{} || stop != end || !(scaled >= 0 && scaled <= 100)) return std::nullopt;
  const auto whole = static_cast<int>(std::lround(scaled));
  if (std::abs(scaled - whole) > 1e-6) return std::nullopt;
  return whole;
}

std::optional<canny::Params> fixed_pair(std::string_view text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const auto low = parse_hundredths(text.substr(0, comma)), high = parse_hundredths(text.substr(comma + 1));
  if (!low || !high || *low > *high || *high < 1) return std::nullopt;
  canny::Params params;
  params.fixed = canny::ThresholdPair{*low, *high};
  return params;
}

}  // namespace

std::optional<canny::Params> edge_detector_named(std::string_view text) {
  for (const NamedPartition& named : kPartitions) {
    canny::Params params;
    params.partition = named.partition;
    if (text == named.name) return params;
    params.candidates = canny::candidates_001();
    if (text == std::string(named.name).append(kFiner)) return params;
  }
  return fixed_pair(text);
}

std::string edge_thresholds_accepted() {
  std::string accepted;
  for (const NamedPartition& named : kPartitions) {
    accepted += std::string(named.name) + ", " + named.name + std::string(kFiner) + ", ";
  }
  return accepted + "or LOW,HIGH in hundredths from 0 to 1, as 0.08,0.19";
}

std::string edge_thresholds_text(const canny::Params& params) {
  std::string text;
  if (params.fixed) {
    char pair[32];
    std::snprintf(pair, sizeof pair, "%.2f,%.2f", params.fixed->low / 100.0, params.fixed->high / 100.0);
    text = pair;
  } else {
    for (const NamedPartition& named : kPartitions) {
      if (named.partition == params.partition) text = named.name;
    }
    if (params.candidates == canny::candidates_001()) text += kFiner;
  }
  return edge_detector_named(text) == params ? text : "custom";
}

}  // namespace cu264::encoder
