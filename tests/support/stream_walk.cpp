#include "tests/support/stream_walk.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "tests/support/cabac_walk.h"
#include "tests/support/slice_walk.h"

namespace cu264::test {
namespace {

void require(bool condition, const std::string& what) {
  if (!condition) throw StreamError(what);
}

class StreamWalk {
 public:
  StreamWalk(const MacroblockVisitor& visit, ZeroWords zero_words) : visit_(visit), zero_words_(zero_words) {}

  void take(const NalUnit& nal) {
    out_.nal_unit_types.push_back(nal.nal_unit_type);
    switch (nal.nal_unit_type) {
      case kNalSps:
        begin_headers(nal);
        require(nal.zero_byte, "an SPS without zero_byte (B.1.2)");
        sps(parse_sps(nal));
        break;
      case kNalPps:
        begin_headers(nal);
        require(nal.zero_byte, "a PPS without zero_byte (B.1.2)");
        out_.pps = parse_pps(nal);
        has_pps_ = true;
        break;
      case kNalSei:
        begin_headers(nal);
        sei(nal);
        break;
      case kNalSliceIdr:
        slice(nal);
        break;
      case kNalFiller:
        filler(nal);
        break;
      default:
        throw StreamError("unexpected nal_unit_type");
    }
    if (open_) {
      out_.pictures.back().bytes += std::exchange(header_bytes_, 0) + nal.end - nal.begin;
    } else {
      header_bytes_ += nal.end - nal.begin;
    }
  }

  WalkedStream finish() {
    finish_picture();
    return std::move(out_);
  }

 private:
  void sps(const Sps& sps) {
    if (slices_) {
      require(sps.mb_width == out_.sps.mb_width && sps.mb_height == out_.sps.mb_height, "the size changes");
    } else {
      slices_.emplace(sps.mb_width, sps.mb_height);
      cabac_slices_.emplace(sps.mb_width, sps.mb_height);
    }
    out_.sps = sps;
  }

  // H.264 7.3.2.3
  void sei(const NalUnit& nal) {
    require(nal.nal_ref_idc == 0, "SEI with nal_ref_idc");
    BitCursor bits(nal.rbsp);
    while (bits.more_data()) {
      const std::uint32_t type = bits.u(8);
      std::uint32_t size = 0, byte = 0;
      do size += byte = bits.u(8);
      while (byte == 255);
      const std::size_t end = bits.position() + 8 * std::size_t{size};
      message(type, size, bits);
      require(bits.position() <= end, "an SEI message is longer than it says");
      bits.seek(end);
    }
    bits.expect_end();
  }

  void message(std::uint32_t type, std::uint32_t size, BitCursor& bits) {
    constexpr std::uint32_t kBufferingPeriod = 0, kPictureTiming = 1, kUserData = 5;
    const std::optional<Hrd>& hrd = out_.sps.vui.nal_hrd;
    if (type == kUserData) {  // D.1.7
      require(size >= 16, "user_data_unregistered without its UUID");
      std::string text;
      for (std::uint32_t i = 0; i < size; ++i) {
        const auto c = static_cast<char>(bits.u(8));
        if (i >= 16) text += c;
      }
      out_.user_data.push_back(text);
      other_message_ = true;
    } else if (type == kBufferingPeriod) {  // D.1.2
      require(hrd && !timing_ && !other_message_, "a buffering period that is not the first message");
      timing_.emplace();
      require(bits.ue() == 0, "seq_parameter_set_id");
      timing_->initial_cpb_removal_delay = bits.u(hrd->initial_delay_length);
      timing_->initial_cpb_removal_delay_offset = bits.u(hrd->initial_delay_length);
    } else {  // D.1.3
      require(type == kPictureTiming && hrd && timing_, "an SEI message of another type");
      timing_->cpb_removal_delay = bits.u(hrd->removal_delay_length);
      timing_->dpb_output_delay = bits.u(hrd->output_delay_length);
    }
  }

  void filler(const NalUnit& nal) {
    require(open_ && nal.nal_ref_idc == 0, "filler data before the picture");
    require(nal.rbsp.back() == 0x80, "filler data without trailing bits");
    for (std::size_t i = 0; i + 1 < nal.rbsp.size(); ++i)
      require(nal.rbsp[i] == 0xff, "filler data other than ff_byte");
    out_.pictures.back().filler_bytes += nal.end - nal.begin;
  }

  void slice(const NalUnit& nal) {
    require(slices_ && has_pps_, "a slice before its parameter sets");
    const bool cabac = out_.pps.entropy_coding_mode;
    require(!cabac || out_.sps.profile_idc != 66, "CABAC in Baseline");
    require(!out_.pps.transform_8x8_mode || out_.sps.profile_idc == 100, "the 8x8 transform below High");
    std::span<const std::uint8_t> rbsp(nal.rbsp);
    std::size_t zero_words = 0;
    for (; cabac && rbsp.size() > 2 && rbsp.back() == 0; ++zero_words) {
      require(rbsp[rbsp.size() - 2] == 0, "half a cabac_zero_word");
      rbsp = rbsp.first(rbsp.size() - 2);
    }
    BitCursor bits(rbsp);
    const SliceHeader header = parse_slice_header(bits, nal, out_.sps, out_.pps);
    if (header.first_mb_in_slice == 0) {
      finish_picture();
      require(nal.zero_byte || headers_, "an access unit without zero_byte (B.1.2)");
      headers_ = false;
      require(out_.pictures.empty() || out_.pictures.back().idr_pic_id != header.idr_pic_id,
              "two IDR pictures in a row with the same idr_pic_id (7.4.3)");
      WalkedPicture picture;
      picture.idr_pic_id = header.idr_pic_id, picture.qp = header.qp;
      picture.disable_deblocking_filter_idc = header.disable_deblocking_filter_idc;
      require(timing_.has_value() == out_.sps.vui.nal_hrd.has_value(),
              "an IDR picture without the messages of its HRD (D.2.2)");
      picture.timing = std::exchange(timing_, std::nullopt);
      other_message_ = false;
      out_.pictures.push_back(picture);
      open_ = true, next_mb_ = 0;
    }
    require(open_ && header.first_mb_in_slice == next_mb_, "first_mb_in_slice leaves a gap");
    WalkedPicture& picture = out_.pictures.back();
    require(header.idr_pic_id == picture.idr_pic_id, "idr_pic_id changes within a picture");
    next_mb_ = cabac ? cabac_slices_->walk(bits, next_mb_, picture.slices, header.qp,
                                           out_.pps.transform_8x8_mode, picture, visit_)
                     : slices_->walk(bits, next_mb_, picture.slices, header.qp, out_.pps.transform_8x8_mode,
                                     picture, visit_);
    ++picture.slices;
    require(picture.zero_words == 0, "cabac_zero_words before the last slice");
    picture.zero_words = zero_words;
    picture.nal_bytes += nal.end - nal.begin - (nal.zero_byte ? 4 : 3);
  }

  // An access unit's parameter sets and SEI come before its first slice.
  void begin_headers(const NalUnit& nal) {
    finish_picture();
    require(nal.zero_byte || headers_, "an access unit without zero_byte (B.1.2)");
    headers_ = true;
  }

  void finish_picture() {
    if (!open_) return;
    const auto macroblocks = static_cast<std::uint64_t>(out_.sps.mb_width * out_.sps.mb_height);
    require(next_mb_ == out_.sps.mb_width * out_.sps.mb_height, "the picture before is not complete");
    open_ = false;
    if (zero_words_ == ZeroWords::any) return;
    const WalkedPicture& picture = out_.pictures.back();
    // BinCountsInNALunits <= 32 / 3 * NumBytesInVclNALunits + RawMbBits * PicSizeInMbs / 32 (7.4.2.10)
    const auto too_many_bins = [&](std::size_t bytes) {
      return 96 * picture.bins > 1024 * std::uint64_t{bytes} + 3 * 3072 * macroblocks;
    };
    require(!too_many_bins(picture.nal_bytes), "more bins than cabac_zero_words allow");
    require(picture.zero_words == 0 || too_many_bins(picture.nal_bytes - 3), "needless cabac_zero_words");
  }

  const MacroblockVisitor& visit_;
  ZeroWords zero_words_;
  WalkedStream out_;
  std::optional<SliceWalk> slices_;
  std::optional<CabacWalk> cabac_slices_;
  bool has_pps_ = false;
  bool headers_ = false;                // whether headers of the next picture have been seen
  std::optional<WalkedTiming> timing_;  // of the next picture
  bool other_message_ = false;          // whether a message was read that must come after them
  std::size_t header_bytes_ = 0;        // before the next picture's first slice
  bool open_ = false;
  int next_mb_ = 0;
};

}  // namespace

void WalkedPicture::add(const WalkedMacroblock& mb) {
  using core::MacroblockKind;
  intra4x4_mbs += mb.kind == MacroblockKind::intra4x4;
  intra8x8_mbs += mb.kind == MacroblockKind::intra8x8;
  intra16x16_mbs += mb.kind == MacroblockKind::intra16x16;
  pcm_mbs += mb.kind == MacroblockKind::pcm;
  header_bits += mb.header_bits, residual_bits += mb.residual_bits;
  max_macroblock_bits = std::max(max_macroblock_bits, mb.header_bits + mb.residual_bits);
  for (const auto& block : mb.levels) {
    for (const int level : block) max_abs_level = std::max(max_abs_level, std::abs(level));
  }
}

WalkedStream walk_stream(std::span<const std::uint8_t> bytes, const MacroblockVisitor& visit,
                         ZeroWords zero_words) {
  StreamWalk walk(visit, zero_words);
  std::size_t index = 0;
  for (const NalUnit& nal : split_annexb(bytes)) {
    try {
      walk.take(nal);
    } catch (const StreamError& error) {
      throw StreamError("NAL unit " + std::to_string(index) + " of type " +
                        std::to_string(nal.nal_unit_type) + ": " + error.what());
    }
    ++index;
  }
  return walk.finish();
}

}  // namespace cu264::test
