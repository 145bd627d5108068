// Options of the search, the stages after it and the stream's syntax.
#include <algorithm>

#include "encoder/edge_thresholds.h"
#include "encoder/level.h"
#include "encoder/options/option_kinds.h"

namespace cu264::encoder {
namespace {

using Type = ConfigOption::Type;
using enum ConfigOption::Change;

enum class Pipeline { production, published };
constexpr Named<Pipeline> kPipelines[] = {{"production", Pipeline::production},
                                          {"published", Pipeline::published}};

// Three options at once.
constexpr OptionKind kPipeline = {
    Type::choice,
    kShown<kPipelines>.data(),
    kShown<kPipelines>.data(),
    0,
    0,
    [](Config& config, const OptionText& value) {
      constexpr int kDefaultEdgeGuided = 2;
      const bool published = value.text == "published";
      if (!published && value.text != "production") value.reject(listed(kPipelines));
      config.entropy = published ? EntropyCoder::cavlcu : EntropyCoder::production;
      config.packing = published ? Packing::gvle : Packing::production;
      if (published && config.edge_guided == 0) config.edge_guided = kDefaultEdgeGuided;
    },
    [](const Config& config) -> std::string {
      if (config.entropy == EntropyCoder::production && config.packing == Packing::production)
        return "production";
      const bool published = config.entropy == EntropyCoder::cavlcu && config.packing == Packing::gvle;
      return published && config.edge_guided != 0 ? "published" : "";
    },
    nullptr};

// The name of lists, or the text of a file of lists.
constexpr OptionKind kScalingLists = {
    Type::choice,
    "flat|jvt",
    "flat|jvt",
    0,
    0,
    [](Config& config, const OptionText& value) {
      if (value.text == "flat" || value.text == "jvt") {
        config.scaling_lists = value.text == "jvt" ? jvt_scaling_lists() : ScalingLists{};
        return;
      }
      if (value.text.find('=') == std::string_view::npos)
        value.reject("flat or jvt, or the text of a file of lists");
      config.scaling_lists = parse_scaling_lists(value.text);
    },
    [](const Config& config) -> std::string {
      if (config.scaling_lists == ScalingLists{}) return "flat";
      return config.scaling_lists == jvt_scaling_lists() ? "jvt" : "";
    },
    [](const Config& config, const char*) {
      const auto require_weights = [](const auto& list) {
        require(std::find(list.begin(), list.end(), 0) == list.end(), "a weight of a scaling list is 0",
                "use 1 to 255");
      };
      require_weights(config.scaling_lists.luma4x4), require_weights(config.scaling_lists.cb4x4);
      require_weights(config.scaling_lists.cr4x4), require_weights(config.scaling_lists.luma8x8);
    }};

// The height of the pictures limits them further.
constexpr OptionKind kSlices = [] {
  OptionKind kind = kWhole<Field<&Config::slices>, 1, kMaxSide / 16>;
  kind.check = [](const Config& config, const char*) {
    const int rows = std::max(1, std::min(macroblocks(config.height), kMaxSide / 16));
    require(config.slices >= 1 && config.slices <= rows,
            std::to_string(config.slices) + " slices do not fit a picture of " + std::to_string(rows) +
                " macroblock rows",
            "use 1 to " + std::to_string(rows));
  };
  return kind;
}();

constexpr OptionKind kEdgeThresholds = {Type::text,
                                        "NAME|LOW,HIGH",
                                        nullptr,
                                        0,
                                        0,
                                        [](Config& config, const OptionText& value) {
                                          const auto params = edge_detector_named(value.text);
                                          if (!params) value.reject(edge_thresholds_accepted());
                                          config.edge_detector = *params;
                                        },
                                        [](const Config& config) -> std::string {
                                          const std::string text = edge_thresholds_text(config.edge_detector);
                                          return edge_detector_named(text) ? text : "";
                                        },
                                        nullptr};

// 10 x the level, written as 3.1, 31 or 1b.
constexpr OptionKind kLevel = {Type::text,
                               "N",
                               nullptr,
                               0,
                               0,
                               [](Config& config, const OptionText& value) {
                                 std::string digits(value.text);
                                 if (digits == "auto") return static_cast<void>(config.level_idc = 0);
                                 if (digits == "1b") return static_cast<void>(config.level_idc = kLevel1b);
                                 if (digits.size() == 1) digits += '0';
                                 if (digits.size() == 3 && digits[1] == '.') digits.erase(1, 1);
                                 int level = 0;
                                 if (!parse_number(digits, level) || !is_level(level))
                                   value.reject("auto, or a level of H.264 from 1 to 6.2, as 4, 3.1 or 1b");
                                 config.level_idc = level;
                               },
                               [](const Config& config) -> std::string {
                                 if (config.level_idc == 0) return "auto";
                                 if (config.level_idc == kLevel1b) return "1b";
                                 return std::to_string(config.level_idc / 10) + "." +
                                        std::to_string(config.level_idc % 10);
                               },
                               [](const Config& config, const char*) {
                                 require(config.level_idc == 0 || is_level(config.level_idc),
                                         "there is no level_idc " + std::to_string(config.level_idc),
                                         "use ten times a level of H.264, or 0");
                               }};

bool guided_by_edges(const Config& config) {
  return coded_aq(config) == AdaptiveQuantisation::edges;
}

constexpr OptionRow kRows[] = {
    {.name = "preset",
     .kind = kChoice<Field<&Config::preset>, kPresets>,
     .meaning = "how thoroughly modes and levels are searched (balanced)",
     .field = "preset",
     .keyword = "preset",
     .about = "How thoroughly modes and levels are searched; best gives the smallest files.",
     .change = changes<Field<&Config::preset>, &ConfigChanges::preset>(next_clip),
     .in_stream = {30, [](const Config& config) { return std::string(name_of(config.preset)); }}},
    // An automatic choice is named as what it came to: it gives the bytes that asking for it does.
    {.name = "profile",
     .kind = kChoice<Field<&Config::profile>, kProfiles>,
     .meaning =
         "baseline: Constrained Baseline; main: with CABAC, smaller; high: with the 8x8 transform too; auto: "
         "high, with CAVLC where something needs it (auto)",
     .field = "profile",
     .keyword = "profile",
     .about = "auto is high with CABAC and the 8x8 transform, with CAVLC where encryption or a watermark "
              "needs it; "
              "main has CABAC without that transform; baseline is Constrained Baseline, which takes more "
              "bits and is "
              "encoded fastest.",
     .in_stream = {10, [](const Config& config) { return std::string(name_of(coded_profile(config))); }}},
    {.name = "cavlc",
     .kind = kSwitch<Field<&Config::cavlc>>,
     .meaning = "CAVLC in place of CABAC, also where the profile allows CABAC (off)",
     .field = "cavlc",
     .keyword = "cavlc",
     .about = "CAVLC also where the profile allows CABAC. What marks finished streams, and encrypts more "
              "than signs, "
              "needs it.",
     .implicit_value = "on",
     .in_stream = {20,
                   [](const Config& config) {
                     const bool chosen = coded_profile(config) != Profile::baseline && !uses_cabac(config);
                     return std::string(chosen ? "on" : "");
                   }}},
    {.name = "pipeline",
     .kind = kPipeline,
     .meaning =
         "published: the papers' stages, --entropy cavlcu, --packing gvle and --edge-guided=2 (production)",
     .keyword = "pipeline",
     .about = "published sets the papers' stages: `entropy` cavlcu, `packing` gvle and, where it is 0, "
              "`edge_guided` 2."},
    {.name = "entropy",
     .kind = kChoice<Field<&Config::entropy>, kEntropies>,
     .meaning = "which kernels code the levels on a GPU; cavlcu: the paper's, with CAVLC. Never changes "
                "CAVLC's bytes "
                "(production)",
     .field = "entropy",
     .keyword = "entropy",
     .about =
         "Which kernels code the levels on a GPU; cavlcu, the paper's, codes CAVLC. The bytes are those of "
         "production with `cavlc`."},
    {.name = "packing",
     .kind = kChoice<Field<&Config::packing>, kPackings>,
     .meaning =
         "which kernels pack the slices on a GPU; gvle: the paper's steps, with CAVLC. Never changes CAVLC's "
         "bytes (production)",
     .field = "packing",
     .keyword = "packing",
     .about = "Which kernels pack the slices on a GPU; gvle, the paper's steps, packs CAVLC. The bytes are "
              "those of "
              "production with `cavlc`."},
    {.name = "cqm",
     .kind = kScalingLists,
     .meaning =
         "scaling lists, of --profile high; jvt: the standard's, coarser the higher the frequency (flat)",
     .field = "scaling_lists",
     .keyword = "cqm",
     .about = "Scaling lists of the profile high; jvt: the standard's, coarser the higher the frequency.",
     .in_stream = {40,
                   [](const Config& config) -> std::string {
                     const std::string name = kScalingLists.text(config);
                     return name == "flat" ? "" : name.empty() ? "custom" : name;
                   }}},
    {.name = "slices",
     .kind = kSlices,
     .meaning = "slices a picture (1)",
     .field = "slices",
     .keyword = "slices",
     .about = "Slices a picture, at most one for each row of macroblocks.",
     .in_stream = {160, kSlices.text}},
    {.name = "gop",
     .kind = kWhole<Field<&Config::gop>, 0, kMaxGop>,
     .meaning = "pictures from one key picture to the next; 0: only the first is one (1: all are)",
     .field = "gop",
     .keyword = "gop",
     .about =
         "Pictures from one key picture to the next. 1: every picture is coded by itself; 0: only the first "
         "and those that are asked for. The others are P pictures, which take far fewer bits.",
     .in_stream = {165,
                   [](const Config& config) { return config.gop == 1 ? "" : std::to_string(config.gop); }}},
    {.name = "scenecut",
     .kind = kSwitch<Field<&Config::scene_cuts>>,
     .meaning = "with --gop, a scene begins a GOP (off)",
     .field = "scene_cuts",
     .keyword = "scene_cuts",
     .about = "Whether the first picture of a scene becomes a key picture, where there are P pictures.",
     .implicit_value = "on",
     .in_stream = {166,
                   [](const Config& config) {
                     return std::string(config.gop != 1 && config.scene_cuts ? "on" : "");
                   }}},
    {.name = "edge-guided",
     .kind = kWhole<Field<&Config::edge_guided>, 0, kMaxEdgeGuided>,
     .meaning =
         "bits go to edges of GUD-Canny, the weak above all; how strongly, as --edge-guided=1 (0; 2 if no "
         "number is given)",
     .field = "edge_guided",
     .keyword = "edge_guided",
     .about =
         "Gives edges more bits, weak ones above all, as strongly as the number says. The edges are those of "
         "GUD-Canny.",
     .value = "0..3",
     .implicit_value = "2",
     .in_stream = {140,
                   [](const Config& config) {
                     return guided_by_edges(config) ? std::to_string(coded_aq_strength(config)) : "";
                   }}},
    {.name = "edge-thresholds",
     .kind = kEdgeThresholds,
     .meaning = "how --edge-guided finds edges: distributed, rows or frame, with -0.01 for finer candidates; "
                "or plain "
                "Canny with thresholds from 0 to 1 (distributed)",
     .field = "edge_detector",
     .keyword = "edge_thresholds",
     .about = "How `edge_guided` finds edges: distributed, rows or frame, each also with -0.01 for finer "
              "candidates, or "
              "LOW,HIGH for plain Canny with these thresholds, as 0.08,0.19.",
     .in_stream = {150,
                   [](const Config& config) -> std::string {
                     if (!guided_by_edges(config) || config.edge_detector == canny::Params{}) return "";
                     return edge_thresholds_text(config.edge_detector);
                   }}},
    // Edges are named by the option that asks for them.
    {.name = "aq",
     .kind = kChoice<Field<&Config::aq>, kAqs>,
     .meaning = "bits go to macroblocks of low variance, with steps of brightness, a cheap measure, or with "
                "edges, as "
                "--edge-guided (auto: variance with --crf and --bitrate)",
     .field = "aq",
     .keyword = "aq",
     .about = "variance gives more bits to macroblocks of low variance; auto does so with `crf` and "
              "`bitrate`. steps "
              "gives more to those with steps of brightness, which is cheaper than edges; edges is "
              "`edge_guided` 2.",
     .in_stream = {140,
                   [](const Config& config) -> std::string {
                     const AdaptiveQuantisation aq = coded_aq(config);
                     const bool named = aq != AdaptiveQuantisation::off && aq != AdaptiveQuantisation::edges;
                     return named ? name_of(aq) : "";
                   }}},
    {.name = "aq-strength",
     .kind = kWholeOrUnset<Field<&Config::aq_strength>, 1, kMaxEdgeGuided>,
     .meaning = "of --aq edges and --aq steps (2)",
     .field = "aq_strength",
     .keyword = "aq_strength",
     .about = "How strongly `aq` steps and edges work; 2 by default.",
     .value = "1..3",
     .in_stream = {150,
                   [](const Config& config) {
                     const bool steps = coded_aq(config) == AdaptiveQuantisation::steps;
                     return steps ? std::to_string(coded_aq_strength(config)) : "";
                   }}},
    {.name = "level",
     .kind = kLevel,
     .meaning = "the level that the stream keeps to, as 4.1; refused if it does not (auto: the lowest)",
     .field = "level_idc",
     .keyword = "level",
     .about = "The level that the stream keeps to by its size and rate, as 4.1; auto: the lowest."},
    {.name = "deblock",
     .kind = kSwitch<Field<&Config::deblock>>,
     .meaning = "the loop filter in the decoder (on)",
     .field = "deblock",
     .keyword = "deblock",
     .about = "Whether decoders apply the loop filter.",
     .in_stream = {170, [](const Config& config) { return std::string(config.deblock ? "on" : "off"); }},
     .off_switch = "no-deblock",
     .off_meaning = "no loop filter in the decoder"},
};

}  // namespace

std::span<const OptionRow> coding_rows() {
  return kRows;
}

}  // namespace cu264::encoder
