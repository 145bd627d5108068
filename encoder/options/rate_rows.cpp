// Options that decide QPs and sizes.
#include "encoder/options/option_kinds.h"

namespace cu264::encoder {
namespace {

using enum ConfigOption::Change;

constexpr int kMaxQp = 51;
using Crf = Field<&Config::crf>;

constexpr OptionKind kCrf = {ConfigOption::Type::number,
                             "N",
                             nullptr,
                             0,
                             kMaxQp,
                             [](Config& config, const OptionText& value) {
                               config.crf =
                                   parse_real(value, 0, kMaxQp, "a number from 0 to 51, as 23 or 21.5");
                             },
                             [](const Config& config) { return config.crf ? real_text(*config.crf) : ""; },
                             [](const Config& config, const char*) {
                               if (!config.crf) return;
                               require(*config.crf >= 0 && *config.crf <= kMaxQp,
                                       "crf " + real_text(*config.crf) + " is out of range", "use 0 to 51");
                             }};

// What the stream says of an amount: nothing if there is none.
template <auto member>
std::string amount_in_stream(const Config& config) {
  return config.*member > 0 ? std::to_string(config.*member) : "";
}

template <auto member>
constexpr OptionGoal kLimit = {[](const Config& config) { return config.*member > 0; }, true};

// A bitrate fills a buffer, too.
constexpr OptionGoal kBuffer = {
    [](const Config& config) { return config.max_bitrate > 0 || config.bitrate > 0; }, true};

constexpr OptionRow kRows[] = {
    {.name = "qp",
     .kind = kWhole<Field<&Config::qp>, 0, kMaxQp>,
     .meaning = "quantiser, 0 (best) to 51 (27)",
     .field = "qp",
     .keyword = "qp",
     .about = "Quantiser, from 0 (best) to 51 (smallest), unless `crf` or `bitrate` is given.",
     .change = changes<Field<&Config::qp>, &ConfigChanges::qp>(any_picture),
     .in_stream = {60,
                   [](const Config& config) {
                     return config.crf || config.bitrate > 0 ? "" : std::to_string(config.qp);
                   }}},
    {.name = "crf",
     .kind = kCrf,
     .meaning = "constant quality on x264's scale, 0 (best) to 51, as 23 or 21.5 (off)",
     .field = "crf",
     .keyword = "crf",
     .about = "Constant quality on x264's scale, 0 to 51: quantisers follow from the pictures.",
     .change = changes<Crf, &ConfigChanges::crf>(any_picture),
     .in_stream = {60, kCrf.text},
     .goal = {[](const Config& config) { return config.crf.has_value(); }}},
    {.name = "bitrate",
     .kind = kBitRate<Field<&Config::bitrate>>,
     .meaning = "kbit a second, within a buffer (off)",
     .field = "bitrate",
     .keyword = "bitrate",
     .about = "Bits a second, headers included, within a buffer.",
     .change = changes<Field<&Config::bitrate>, &ConfigChanges::bitrate>(any_picture),
     .in_stream = {50, amount_in_stream<&Config::bitrate>},
     .goal = kLimit<&Config::bitrate>},
    {.name = "maxrate",
     .kind = kBitRate<Field<&Config::max_bitrate>>,
     .meaning = "the rate that fills the buffer, in kbit a second (that of --bitrate)",
     .field = "max_bitrate",
     .keyword = "max_bitrate",
     .about = "The bits a second that fill the buffer; those of `bitrate` by default. It also limits `qp` "
              "and `crf`.",
     .change = changes<Field<&Config::max_bitrate>, &ConfigChanges::max_bitrate>(any_picture),
     .in_stream = {70, amount_in_stream<&Config::max_bitrate>, "max-bitrate"},
     .goal = kBuffer},
    {.name = "bufsize",
     .kind = kBits<Field<&Config::buffer_bits>>,
     .meaning =
         "the size of the buffer, in kbit (one second of the rate that fills it; two pictures if they are "
         "slower)",
     .field = "buffer_bits",
     .keyword = "buffer_bits",
     .about = "The size of the buffer, in bits: one second of the rate that fills it by default, or two "
              "pictures if "
              "they are slower. It needs `bitrate` or `max_bitrate`.",
     .change = changes<Field<&Config::buffer_bits>, &ConfigChanges::buffer_bits>(any_picture),
     .in_stream = {80, amount_in_stream<&Config::buffer_bits>, "buffer-bits"}},
    {.name = "cbr",
     .kind = kSwitch<Field<&Config::cbr>>,
     .meaning = "constant --bitrate, by filler data where pictures need fewer bits (off)",
     .field = "cbr",
     .keyword = "cbr",
     .about = "`bitrate` is kept exactly, by filler data where pictures need fewer bits. Not in MP4.",
     .implicit_value = "on",
     .in_stream = {90, [](const Config& config) { return std::string(config.cbr ? "on" : ""); }}},
    {.name = "timed-bitrate",
     .kind = kSwitch<Field<&Config::timed_bitrate>>,
     .meaning = nullptr,
     .field = "timed_bitrate",
     .keyword = "timed_bitrate",
     .about =
         "For variable frame rates: `bitrate` counts how long each picture is shown, instead of `fps` "
         "pictures a second. Such a stream has no buffer: neither `max_bitrate`, `buffer_bits` nor `cbr`.",
     .implicit_value = "on",
     .in_stream = {95, [](const Config& config) { return std::string(config.timed_bitrate ? "on" : ""); }}},
    {.name = "lookahead",
     .kind = kOptionalWhole<Field<&Config::lookahead>, 0, kMaxLookahead>,
     .meaning = "pictures after each one that a bitrate looks at; packets come so much later (auto: 40)",
     .field = "lookahead",
     .keyword = "lookahead",
     .about = "Pictures after each one that `bitrate` looks at; 40 by default. Packets come so many "
              "pictures later: "
              "0 is for live streams.",
     .in_stream = {100,
                   [](const Config& config) {
                     const int pictures = coded_lookahead(config);
                     return pictures > 0 ? std::to_string(pictures) : "";
                   }}},
    {.name = "max-frame-bytes",
     .kind = kBytes<Field<&Config::max_frame_bytes>>,
     .meaning = "no picture has more bytes, headers included (0: no limit)",
     .field = "max_frame_bytes",
     .keyword = "max_frame_bytes",
     .about = "No picture has more bytes, headers included; 0: no limit.",
     .change = changes<Field<&Config::max_frame_bytes>, &ConfigChanges::max_frame_bytes>(any_picture),
     .in_stream = {110, amount_in_stream<&Config::max_frame_bytes>},
     .goal = kLimit<&Config::max_frame_bytes>},
    {.name = "frame-bytes",
     .kind = kBytes<Field<&Config::frame_bytes>>,
     .meaning = "every picture has exactly so many bytes, by filler data (0: off)",
     .field = "frame_bytes",
     .keyword = "frame_bytes",
     .about = "Every picture has exactly so many bytes, by filler data; 0: off. Not in MP4.",
     .in_stream = {120, amount_in_stream<&Config::frame_bytes>},
     .goal = kLimit<&Config::frame_bytes>},
    {.name = "on-overflow",
     .kind = kChoice<Field<&Config::on_overflow>, kOverflows>,
     .meaning = "what becomes of a picture that no QP makes small enough (error)",
     .field = "on_overflow",
     .keyword = "on_overflow",
     .about = "What becomes of a picture that no quantiser makes as small as a limit asks: error ends the "
              "stream, and "
              "drop leaves the picture out.",
     .in_stream = {130,
                   [](const Config& config) {
                     return std::string(config.on_overflow == OnOverflow::drop ? "drop" : "");
                   }}},
};

}  // namespace

std::span<const OptionRow> rate_rows() {
  return kRows;
}

}  // namespace cu264::encoder
