#include "tests/support/mixed_pictures.h"

#include <algorithm>
#include <memory>
#include <random>
#include <sstream>

#include "support/encode.h"

namespace cu264::test {
namespace {

// Changes some samples a little, and with them the contrast.
void drift(Picture& picture, std::mt19937& random) {
  const std::uint32_t step = 2 + random() % 3, lift = random() % 40;
  for (std::size_t at = random() % step; at < picture.samples.size(); at += step) {
    std::uint8_t& sample = picture.samples[at];
    sample = static_cast<std::uint8_t>((sample * 6u + 96 + lift) / 8);
  }
}

std::string text(const PictureStats& s) {
  std::ostringstream out;
  out << "qp " << s.qp << " I4x4 " << s.intra4x4_mbs << " I16x16 " << s.intra16x16_mbs << " PCM " << s.pcm_mbs
      << " header bits " << s.header_bits << " residual bits " << s.residual_bits;
  return out.str();
}

}  // namespace

std::vector<MixedPicture> mixed_pictures(int pictures, int width, int height, int streams,
                                         std::uint32_t seed) {
  constexpr Content kOfStream[] = {Content::natural, Content::graded_noise, Content::text, Content::checker4};
  std::mt19937 random(seed);
  std::vector<MixedPicture> streams_now;
  for (int stream = 0; stream < streams; ++stream) {
    MixedPicture& first = streams_now.emplace_back();
    first.picture =
        make_picture(kOfStream[stream % 4], width, height, seed + static_cast<std::uint32_t>(stream));
    first.params.stream = static_cast<std::uint32_t>(stream);
    first.params.index = random() % 1000;
  }
  std::vector<MixedPicture> mixed;
  for (int i = 0; i < pictures; ++i) {
    MixedPicture& next = streams_now[random() % streams_now.size()];
    next.params.qp = static_cast<std::uint8_t>(i == 1 ? 0 : i == 2 ? 51 : random() % 52);
    next.params.idr_pic_id = static_cast<std::uint8_t>((next.params.index + next.params.stream) % 2);
    next.params.deblock = random() % 4 != 0;
    mixed.push_back(next);
    ++next.params.index;
    drift(next.picture, random);
  }
  return mixed;
}

void raise_rows(std::vector<MixedPicture>& pictures, std::uint32_t seed) {
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const auto rows = static_cast<std::uint32_t>(pictures[i].picture.height + 15) / 16;
    pictures[i].params.raised_rows = static_cast<std::uint16_t>(i % 4 == 0   ? 0
                                                                : i % 4 == 1 ? rows
                                                                             : random() % rows);
  }
}

std::vector<encoder::CodedAccessUnit> code_together(encoder::Backend& backend,
                                                    const std::vector<MixedPicture>& pictures) {
  std::vector<encoder::CodedAccessUnit> units;
  std::size_t sent = 0;
  for (const MixedPicture& mixed : pictures) {
    if (sent - units.size() == static_cast<std::size_t>(backend.capacity()))
      units.push_back(backend.collect());
    const FrameBuffer frame(mixed.picture, PixelFormat::i420);
    backend.submit({{frame.view()}, mixed.params});
    ++sent;
  }
  backend.flush();
  while (units.size() < pictures.size()) units.push_back(backend.collect());
  return units;
}

std::vector<encoder::CodedAccessUnit> code_alone(encoder::StreamParams params,
                                                 const std::vector<MixedPicture>& pictures) {
  std::vector<std::unique_ptr<encoder::Backend>> backends(static_cast<std::size_t>(params.execution.streams));
  params.execution.streams = 1, params.execution.threads = 1;
  std::vector<encoder::CodedAccessUnit> units;
  for (const MixedPicture& mixed : pictures) {
    std::unique_ptr<encoder::Backend>& backend = backends[mixed.params.stream];
    if (!backend) backend = encoder::open_cpu_backend(params);
    const FrameBuffer frame(mixed.picture, PixelFormat::i420);
    core::PictureParams own = mixed.params;
    own.stream = 0;
    backend->submit({{frame.view()}, own});
    units.push_back(backend->collect());
  }
  return units;
}

std::string difference(const std::vector<encoder::CodedAccessUnit>& expected,
                       const std::vector<encoder::CodedAccessUnit>& found,
                       const std::vector<MixedPicture>& pictures) {
  std::ostringstream out;
  if (expected.size() != found.size()) out << expected.size() << " units, found " << found.size();
  for (std::size_t i = 0; i < std::min(expected.size(), found.size()); ++i) {
    const core::PictureParams& params = pictures[i].params;
    std::ostringstream what;
    const auto [a, b] = std::mismatch(expected[i].slices.begin(), expected[i].slices.end(),
                                      found[i].slices.begin(), found[i].slices.end());
    if (a != expected[i].slices.end() || b != found[i].slices.end())
      what << " byte " << a - expected[i].slices.begin() << " of " << expected[i].slices.size();
    if (text(expected[i].stats) != text(found[i].stats))
      what << " statistics: " << text(expected[i].stats) << ", found " << text(found[i].stats);
    if (expected[i].reconstruction != found[i].reconstruction) what << " reconstruction";
    if (what.str().empty()) continue;
    out << "unit " << i << " of " << expected.size() << " (QP " << int{params.qp} << ", stream "
        << params.stream << ", index " << params.index << "):" << what.str();
    break;
  }
  return out.str();
}

}  // namespace cu264::test
