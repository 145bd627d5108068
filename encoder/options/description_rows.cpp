// Options that say in the stream's headers what the pictures are; samples are not converted.
#include "encoder/options/option_kinds.h"

namespace cu264::encoder {
namespace {

using Type = ConfigOption::Type;

constexpr OptionKind kSampleAspectRatio = {
    Type::ratio,
    "N:D",
    nullptr,
    0,
    0,
    [](Config& config, const OptionText& value) {
      config.sample_aspect_ratio =
          parse_ratio(value, ':', true, "a ratio such as 16:11, or 0 for unspecified");
    },
    [](const Config& config) { return ratio_text(config.sample_aspect_ratio, ':'); },
    [](const Config& config, const char*) {
      const Rational sar = config.sample_aspect_ratio;
      require(sar.num >= 0 && sar.den > 0 && reduced(sar).num <= 65535 && reduced(sar).den <= 65535,
              "the sample aspect ratio is out of range", "use two numbers up to 65535, or 0 for unspecified");
    }};

// Those without a name are written as numbers.
template <auto member, const auto& names>
inline constexpr OptionKind kCodePoint = [] {
  using F = Field<&Config::colour, member>;
  OptionKind kind = kChoice<F, names, Type::code_point>;
  kind.set = [](Config& config, const OptionText& value) {
    int number = 0;
    for (const auto& named : names) {
      if (value.text == named.name) return static_cast<void>(F::of(config) = named.value);
    }
    if (!parse_number(value.text, number) || number < 0 || number > 255)
      value.reject(listed(names) + ", or a code point of H.273 from 0 to 255");
    F::of(config) = number;
  };
  kind.text = [](const Config& config) {
    const char* const name = find_name(names, F::of(config));
    return name != nullptr ? name : std::to_string(F::of(config));
  };
  return kind;
}();

// H.264 E.2.1
constexpr OptionKind kMatrix = [] {
  OptionKind kind = kCodePoint<&Colour::matrix, kMatrices>;
  kind.check = [](const Config& config, const char* field) {
    require_range(field, config.colour.matrix, 0, 255);
    require(config.colour.matrix != 0, "matrix coefficients 0 (RGB) cannot describe 4:2:0 pictures",
            "name the matrix of the YCbCr conversion, or 2 for unspecified");
  };
  return kind;
}();

constexpr OptionRow kRows[] = {
    {.name = "sar",
     .kind = kSampleAspectRatio,
     .meaning = "sample aspect ratio; 0: unspecified (0)",
     .field = "sample_aspect_ratio",
     .keyword = "sample_aspect_ratio",
     .about = "Shape of a sample, for example 16/11; not said by default."},
    {.name = "range",
     .kind = kChoice<Field<&Config::colour, &Colour::full_range>, kRanges, Type::flag>,
     .meaning = "of the samples (limited); tv and pc say the same",
     .field = "colour.full_range",
     .keyword = "full_range",
     .about = "Whether Y, Cb and Cr use all values from 0 to 255. RGB is converted so.",
     .value = "limited|full"},
    {.name = "colorprim",
     .kind = kCodePoint<&Colour::primaries, kPrimaries>,
     .meaning =
         "colour primaries: bt709, bt470m, bt470bg, smpte170m, smpte240m, film, bt2020, smpte428, smpte431, "
         "smpte432, or a number of H.273 (undef)",
     .field = "colour.primaries",
     .keyword = "primaries",
     .about = "Colour primaries: a name, or a code point of ITU-T H.273; 2 is unspecified.",
     .value = "NAME"},
    {.name = "transfer",
     .kind = kCodePoint<&Colour::transfer, kTransfers>,
     .meaning =
         "transfer characteristics: bt709, bt470m, bt470bg, smpte170m, smpte240m, linear, log100, log316, "
         "iec61966-2-4, bt1361e, iec61966-2-1, bt2020-10, bt2020-12, smpte2084, smpte428, arib-std-b67, "
         "or a number of H.273 (undef)",
     .field = "colour.transfer",
     .keyword = "transfer",
     .about = "Transfer characteristics: a name, or a code point of ITU-T H.273; 2 is unspecified.",
     .value = "NAME"},
    {.name = "colormatrix",
     .kind = kMatrix,
     .meaning =
         "matrix of YCbCr: bt709, fcc, bt470bg, smpte170m, smpte240m, YCgCo, bt2020nc, bt2020c, smpte2085, "
         "chroma-derived-nc, chroma-derived-c, ICtCp, or a number of H.273 (undef)",
     .field = "colour.matrix",
     .keyword = "matrix",
     .about = "Matrix coefficients: a name, or a code point of ITU-T H.273; 2 is unspecified. RGB is "
              "converted by them: "
              "bt709 (1), "
              "bt470bg (5) or smpte170m (6), both BT.601; unspecified becomes BT.709 from 720 lines on and "
              "BT.601 below.",
     .value = "NAME"},
    {.name = "chromaloc",
     .kind = kWholeOrUnset<Field<&Config::chroma_location>, 0, kMaxChromaLocation>,
     .meaning = "where chroma samples lie, as in H.264 figure E-1 (not said)",
     .field = "chroma_location",
     .keyword = "chroma_location",
     .about = "Where chroma samples lie, as in H.264 figure E-1; not said by default. Not for RGB, whose "
              "chroma lies in "
              "the middle of its samples.",
     .value = "0..5"},
};

}  // namespace

std::span<const OptionRow> description_rows() {
  return kRows;
}

}  // namespace cu264::encoder
