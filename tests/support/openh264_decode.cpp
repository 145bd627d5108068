#include "tests/support/openh264_decode.h"

#include <stdexcept>

#ifdef CU264_HAS_OPENH264

#include <wels/codec_api.h>

#include <algorithm>
#include <array>
#include <memory>

#include "common/bitstream/nal_unit.h"

namespace cu264::test {
namespace {

struct Destroy {
  void operator()(ISVCDecoder* decoder) const {
    decoder->Uninitialize();
    WelsDestroyDecoder(decoder);
  }
};
using Decoder = std::unique_ptr<ISVCDecoder, Destroy>;

Decoder open_decoder() {
  ISVCDecoder* made = nullptr;
  if (WelsCreateDecoder(&made) != 0) throw std::runtime_error("openh264 gives no decoder");
  Decoder decoder(made);
  int level = WELS_LOG_QUIET;
  decoder->SetOption(DECODER_OPTION_TRACE_LEVEL, &level);
  SDecodingParam parameters{};
  parameters.sVideoProperty.eVideoBsType = VIDEO_BITSTREAM_AVC;
  parameters.eEcActiveIdc = ERROR_CON_DISABLE;
  if (decoder->Initialize(&parameters) != 0) throw std::runtime_error("openh264's decoder does not start");
  return decoder;
}

void take_picture(const unsigned char* const planes[3], const SBufferInfo& info,
                  std::vector<Picture>& pictures) {
  if (info.iBufferStatus != 1) return;
  const SSysMEMBuffer& memory = info.UsrData.sSystemBuffer;
  Picture picture(memory.iWidth, memory.iHeight);
  for (int p = 0; p < 3; ++p) {
    for (int y = 0; y < picture.plane_height(p); ++y) {
      std::copy_n(
          planes[p] + static_cast<std::ptrdiff_t>(y) * memory.iStride[p == 0 ? 0 : 1], picture.plane_width(p),
          picture.plane(p) + static_cast<std::size_t>(y) * static_cast<std::size_t>(picture.plane_width(p)));
    }
  }
  pictures.push_back(std::move(picture));
}

}  // namespace

bool has_openh264() {
  return true;
}

std::vector<Picture> decode_with_openh264(std::span<const std::uint8_t> stream) {
  const Decoder decoder = open_decoder();
  std::vector<Picture> pictures;
  unsigned char* planes[3] = {};
  const auto decode = [&](std::span<const std::uint8_t> nal) {
    std::vector<std::uint8_t> unit{0, 0, 0, 1};
    unit.insert(unit.end(), nal.begin(), nal.end());
    SBufferInfo info{};
    decoder->DecodeFrame2(unit.data(), static_cast<int>(unit.size()), planes, &info);
    take_picture(planes, info, pictures);
  };
  // Each NAL unit comes in a call of its own, so that nothing but the stream says where a picture ends.
  for (const bitstream::NalUnit& nal : bitstream::split_annexb(stream).units) decode(nal.unit);
  // A picture that only the end of the stream ends has the time stamp of the call before. If that call ended
  // another picture, openh264 may show the two in the wrong order (2.3.1). So an access unit delimiter
  // (H.264 7.3.2.4) ends the last picture.
  decode(std::array<std::uint8_t, 2>{9, 0xf0});
  int end = 1;
  decoder->SetOption(DECODER_OPTION_END_OF_STREAM, &end);
  SBufferInfo info{};
  decoder->DecodeFrame2(nullptr, 0, planes, &info);
  take_picture(planes, info, pictures);
  for (std::size_t before = ~std::size_t{0}; before != pictures.size();) {
    before = pictures.size();
    info = {};
    decoder->FlushFrame(planes, &info);
    take_picture(planes, info, pictures);
  }
  return pictures;
}

}  // namespace cu264::test

#else

namespace cu264::test {

bool has_openh264() {
  return false;
}

std::vector<Picture> decode_with_openh264(std::span<const std::uint8_t>) {
  throw std::runtime_error("the tests were built without openh264");
}

}  // namespace cu264::test

#endif
