#include "tests/parity/coded_gop.h"

#include <functional>
#include <random>

#include "cu264/frame.h"
#include "encoder/config.h"
#include "encoder/cpu/ingest.h"
#include "encoder/cpu/p_picture.h"
#include "encoder/cpu/reconstruct_slice.h"
#include "encoder/output_picture.h"

namespace cu264::parity {
namespace {

void one_after_another(int count, const std::function<void(int)>& work) {
  for (int row = 0; row < count; ++row) work(row);
}

Frame frame_of(const test::Picture& picture) {
  Frame frame;
  frame.format = PixelFormat::i420;
  frame.width = picture.width, frame.height = picture.height;
  for (int p = 0; p < 3; ++p) {
    frame.plane[p] = picture.plane(p);
    frame.pitch[p] = picture.plane_width(p);
  }
  return frame;
}

void draw_qp_offsets(encoder::CpuPicture& picture, int most, std::mt19937& random) {
  if (most == 0) return;
  picture.qp_offsets.resize(picture.macroblocks.size());
  for (std::int8_t& offset : picture.qp_offsets) {
    offset = static_cast<std::int8_t>(std::uniform_int_distribution<int>(-most, most)(random));
  }
}

}  // namespace

std::vector<CodedInGop> code_gop(const std::vector<test::Picture>& clip, const GopSettings& settings) {
  const int mb_width = encoder::macroblocks(clip[0].width), mb_height = encoder::macroblocks(clip[0].height);
  std::mt19937 random(static_cast<unsigned>(settings.qp));
  encoder::GopChain chain;
  chain.resize(mb_width, mb_height);
  std::vector<CodedInGop> coded;
  for (const test::Picture& source : clip) {
    CodedInGop& out = coded.emplace_back();
    out.params.qp = static_cast<std::uint8_t>(settings.qp);
    out.params.key = coded.size() == 1;
    encoder::CpuPicture& picture = out.coded;
    picture.resize(mb_width, mb_height, settings.slices);
    picture.transform_8x8_mode = settings.transform_8x8_mode;
    picture.cabac = settings.cabac;
    picture.inter = !out.params.key;
    picture.motion.resize(picture.macroblocks.size());
    draw_qp_offsets(picture, settings.qp_offset, random);
    encoder::ingest(frame_of(source), picture);
    const auto in_chain = [&](encoder::CpuPicture& p) {
      return encoder::PPicture{p, chain, settings.qp, settings.preset};
    };
    encoder::begin_picture(in_chain(picture), false, one_after_another);
    if (picture.inter) {
      encoder::reconstruct_p_picture(in_chain(picture), one_after_another);
    } else {
      for (int slice = 0; slice < settings.slices; ++slice)
        encoder::reconstruct_slice(picture, slice, settings.qp, settings.preset);
    }
    out.filtered = picture;
    encoder::filter_picture(out.filtered);
    encoder::keep_picture(in_chain(out.filtered));
    encoder::take_reference(chain, one_after_another);
    out.chain = chain;
  }
  return coded;
}

}  // namespace cu264::parity
