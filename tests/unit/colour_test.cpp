// The conversion of RGB to YCbCr agrees with the equations in floating point, and has the exact properties
// that integers must keep.
#include "core/colour.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "encoder/config.h"
#include "encoder/cpu/ingest.h"

namespace {

using cu264::PixelFormat;
using cu264::core::ColourMatrix;
using cu264::core::Rgb;

// H.264 E.2.1, equations E-16 to E-21.
struct Reference {
  double y = 0, cb = 0, cr = 0;
  Reference(int matrix, bool full_range, double r, double g, double b) {
    const double kr = matrix == 1 ? 0.2126 : 0.299, kb = matrix == 1 ? 0.0722 : 0.114;
    const double luma = kr * r + (1 - kr - kb) * g + kb * b;
    const double luma_range = full_range ? 1 : 219.0 / 255, chroma_range = full_range ? 1 : 224.0 / 255;
    y = luma_range * luma + (full_range ? 0 : 16);
    cb = chroma_range * (b - luma) / (2 * (1 - kb)) + 128;
    cr = chroma_range * (r - luma) / (2 * (1 - kr)) + 128;
  }
};

constexpr std::pair<int, bool> kConversions[] = {{1, false}, {1, true}, {5, false}, {6, false}, {6, true}};

TEST(Colour, IsTheStandardsEquationsRounded) {
  std::mt19937 random(7);
  for (const auto& [matrix, full_range] : kConversions) {
    const ColourMatrix m = cu264::core::make_colour_matrix(matrix, full_range);
    for (int i = 0; i < 20000; ++i) {
      Rgb c{static_cast<int>(random() % 256), static_cast<int>(random() % 256),
            static_cast<int>(random() % 256)};
      if (i < 8) c = {i & 1 ? 255 : 0, i & 2 ? 255 : 0, i & 4 ? 255 : 0};
      const Reference expected(matrix, full_range, c.r, c.g, c.b);
      const Rgb sum{4 * c.r, 4 * c.g, 4 * c.b};
      // 0.5 for the rounding, and the error of 16-bit coefficients.
      const double tolerance = 0.51;
      const auto limited = [](double v) { return std::min(v, 255.0); };
      EXPECT_NEAR(cu264::core::luma_of(m, c), expected.y, tolerance) << c.r << ' ' << c.g << ' ' << c.b;
      EXPECT_NEAR(cu264::core::chroma_of(m.cb, sum), limited(expected.cb), tolerance);
      EXPECT_NEAR(cu264::core::chroma_of(m.cr, sum), limited(expected.cr), tolerance);
    }
  }
}

TEST(Colour, GreysHaveNoColourAndSpanTheRange) {
  for (const auto& [matrix, full_range] : kConversions) {
    const ColourMatrix m = cu264::core::make_colour_matrix(matrix, full_range);
    for (int v = 0; v < 256; ++v) {
      EXPECT_EQ(cu264::core::chroma_of(m.cb, {4 * v, 4 * v, 4 * v}), 128);
      EXPECT_EQ(cu264::core::chroma_of(m.cr, {4 * v, 4 * v, 4 * v}), 128);
      if (full_range) {
        EXPECT_EQ(cu264::core::luma_of(m, {v, v, v}), v);
      }
    }
    EXPECT_EQ(cu264::core::luma_of(m, {0, 0, 0}), full_range ? 0 : 16);
    EXPECT_EQ(cu264::core::luma_of(m, {255, 255, 255}), full_range ? 255 : 235);
  }
}

std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

TEST(Colour, FloatsAreRoundedExactly) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::pair<float, int> cases[] = {{0.0f, 0},
                                         {-0.0f, 0},
                                         {-1.0f, 0},
                                         {1.0f, 255},
                                         {1.5f, 255},
                                         {infinity, 255},
                                         {-infinity, 0},
                                         {0.5f, 128},
                                         {1e-30f, 0},
                                         {0.00196f, 0},
                                         {0.00197f, 1},
                                         {0.998f, 254},
                                         {0.99999994f, 255},
                                         {std::numeric_limits<float>::denorm_min(), 0},
                                         {std::numeric_limits<float>::quiet_NaN(), 0},
                                         {-std::numeric_limits<float>::quiet_NaN(), 0}};
  for (const auto& [value, expected] : cases) {
    EXPECT_EQ(cu264::core::sample_of_float(bits_of(value)), expected) << value;
  }
  // A double holds 255 * v without rounding.
  for (std::uint32_t bits = 0; bits <= bits_of(1.0f); bits += 9973) {
    float value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    ASSERT_EQ(cu264::core::sample_of_float(bits), static_cast<int>(std::floor(255.0 * value + 0.5))) << value;
  }
}

TEST(Colour, SignedFloatsAreRoundedExactly) {
  for (std::uint32_t magnitude = 0; magnitude <= bits_of(1.25f); magnitude += 9973) {
    float value = 0;
    std::memcpy(&value, &magnitude, sizeof(value));
    // The products are exact in double; the sums need not be, so they are taken of whole numbers.
    const int up = 128 + static_cast<int>(std::floor(127.5 * value));
    const int down = 128 - static_cast<int>(std::ceil(127.5 * value));
    ASSERT_EQ(cu264::core::sample_of_signed_float(magnitude), std::min(up, 255)) << value;
    ASSERT_EQ(cu264::core::sample_of_signed_float(magnitude | 0x80000000u), std::max(down, 0)) << -value;
  }
  EXPECT_EQ(cu264::core::sample_of_signed_float(bits_of(std::numeric_limits<float>::quiet_NaN())), 0);
  EXPECT_EQ(cu264::core::sample_of_signed_float(bits_of(std::numeric_limits<float>::infinity())), 255);
}

// Not every compiler has a type for halves.
float value_of_half(std::uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31), fraction = static_cast<int>(bits & 1023);
  float size = std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  if (exponent == 0) size = std::ldexp(static_cast<float>(fraction), -24);
  if (exponent == 31)
    size = fraction == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  return std::copysign(size, (bits & 0x8000u) != 0 ? -1.0f : 1.0f);
}

// The half nearest to a value of at most 1.
std::uint16_t half_of(float value) {
  const int exponent = value == 0 ? -14 : std::max(std::ilogb(value), -14);
  const int fraction = static_cast<int>(std::nearbyint(std::ldexp(std::abs(value), 10 - exponent)));
  return static_cast<std::uint16_t>((std::signbit(value) ? 0x8000 : 0) + (exponent + 14) * 1024 + fraction);
}

TEST(Colour, HalvesBecomeTheSameFloats) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const std::uint32_t expected = bits_of(value_of_half(bits)), found = cu264::core::float_of_half(bits);
    const bool nan = (bits & 0x7fffu) > 0x7c00u;  // its payload does not matter
    ASSERT_TRUE(nan ? (found & 0x7fffffffu) > 0x7f800000u : found == expected) << bits;
  }
}

// A picture of random colours in each format, which must all become the same planes.
TEST(Colour, EveryRgbFormatGivesTheSamePlanes) {
  std::mt19937 random(3);
  for (const auto& size : {std::pair{1, 1}, std::pair{5, 3}, std::pair{32, 16}, std::pair{17, 34}}) {
    const int width = size.first, height = size.second;  // clang 14 captures no structured bindings
    const std::size_t count = static_cast<std::size_t>(width) * height;
    std::vector<std::uint8_t> colours(3 * count);
    for (auto& c : colours) c = static_cast<std::uint8_t>(random());
    const ColourMatrix matrix = cu264::core::make_colour_matrix(1, false);
    const auto colour = [&](int x, int y, int c) {
      return static_cast<int>(colours[3 * (static_cast<std::size_t>(std::min(y, height - 1)) * width +
                                           static_cast<std::size_t>(std::min(x, width - 1))) +
                                      static_cast<std::size_t>(c)]);
    };
    const auto expect_planes = [&](const cu264::Frame& frame, const char* name) {
      cu264::encoder::CpuPicture picture;
      picture.resize((width + 15) / 16, (height + 15) / 16, 1);
      cu264::encoder::ingest(frame, picture, matrix);
      for (int y = 0; y < picture.source[0].height; ++y) {
        for (int x = 0; x < picture.source[0].width; ++x) {
          ASSERT_EQ(picture.source[0].row(y)[x],
                    cu264::core::luma_of(matrix, {colour(x, y, 0), colour(x, y, 1), colour(x, y, 2)}))
              << name << ", luma at " << x << ',' << y << " of " << width << 'x' << height;
        }
      }
      for (int y = 0; y < picture.source[1].height; ++y) {
        for (int x = 0; x < picture.source[1].width; ++x) {
          Rgb sum;
          for (int i = 0; i < 4; ++i) {
            const int last_x = (width + 1) / 2 - 1, last_y = (height + 1) / 2 - 1;
            const int at_x = 2 * std::min(x, last_x) + i % 2, at_y = 2 * std::min(y, last_y) + i / 2;
            sum.r += colour(at_x, at_y, 0), sum.g += colour(at_x, at_y, 1), sum.b += colour(at_x, at_y, 2);
          }
          ASSERT_EQ(picture.source[1].row(y)[x], cu264::core::chroma_of(matrix.cb, sum)) << name;
          ASSERT_EQ(picture.source[2].row(y)[x], cu264::core::chroma_of(matrix.cr, sum)) << name;
        }
      }
    };
    cu264::Frame frame;
    frame.width = width, frame.height = height;
    frame.format = PixelFormat::rgb24;
    frame.plane[0] = colours.data(), frame.pitch[0] = 3 * width;
    expect_planes(frame, "rgb24");
    std::vector<std::uint8_t> bgr(3 * count), rgba(4 * count), bgra(4 * count), planar(3 * count);
    std::vector<float> floats(3 * count);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t c = 0; c < 3; ++c) {
        bgr[3 * i + 2 - c] = bgra[4 * i + 2 - c] = rgba[4 * i + c] = planar[c * count + i] =
            colours[3 * i + c];
        floats[c * count + i] = static_cast<float>(colours[3 * i + c]) / 255.0f;
      }
      rgba[4 * i + 3] = bgra[4 * i + 3] = static_cast<std::uint8_t>(i);
    }
    frame.format = PixelFormat::bgr24;
    frame.plane[0] = bgr.data();
    expect_planes(frame, "bgr24");
    frame.format = PixelFormat::rgba32;
    frame.plane[0] = rgba.data(), frame.pitch[0] = 4 * width;
    expect_planes(frame, "rgba32");
    frame.format = PixelFormat::bgra32;
    frame.plane[0] = bgra.data();
    expect_planes(frame, "bgra32");
    frame.format = PixelFormat::rgb_planar;
    for (int c = 0; c < 3; ++c) frame.plane[c] = planar.data() + c * count, frame.pitch[c] = width;
    expect_planes(frame, "rgb_planar");
    frame.format = PixelFormat::rgb_float_planar;
    for (int c = 0; c < 3; ++c) {
      frame.plane[c] = reinterpret_cast<const std::uint8_t*>(floats.data() + c * count);
      frame.pitch[c] = 4 * width;
    }
    expect_planes(frame, "rgb_float_planar");
    // A half has 11 bits, which tell 256 values apart; a bfloat16 has 8, and loses some of those near white.
    std::vector<float> interleaved(3 * count);
    std::vector<std::uint16_t> halves(3 * count), signed_halves(3 * count);
    for (std::size_t i = 0; i < 3 * count; ++i) {
      interleaved[i] = static_cast<float>(colours[i]) / 255.0f;
      halves[i] = half_of(interleaved[i]);
      signed_halves[i] = half_of(interleaved[i] * 2 - 1);
    }
    const auto expect_interleaved = [&](PixelFormat format, const void* samples, int bytes,
                                        const char* name) {
      frame.format = format;
      frame.plane[0] = static_cast<const std::uint8_t*>(samples), frame.pitch[0] = 3 * bytes * width;
      expect_planes(frame, name);
    };
    expect_interleaved(PixelFormat::rgb_float, interleaved.data(), 4, "rgb_float");
    expect_interleaved(PixelFormat::rgb_half, halves.data(), 2, "rgb_half");
    frame.float_range = cu264::FloatRange::minus_one_to_one;
    expect_interleaved(PixelFormat::rgb_half, signed_halves.data(), 2, "rgb_half, signed");
    frame.float_range = cu264::FloatRange::zero_to_one;
    std::vector<std::uint16_t> upper(3 * count);
    for (std::size_t i = 0; i < 3 * count; ++i) {
      upper[i] = static_cast<std::uint16_t>(bits_of(interleaved[i]) >> 16);
      const std::uint32_t bits = std::uint32_t{upper[i]} << 16;
      colours[i] = static_cast<std::uint8_t>(cu264::core::sample_of_float(bits));
    }
    expect_interleaved(PixelFormat::rgb_bfloat16, upper.data(), 2, "rgb_bfloat16");
    std::vector<std::uint16_t> upper_planar(3 * count);
    for (std::size_t i = 0; i < 3 * count; ++i) upper_planar[i % 3 * count + i / 3] = upper[i];
    frame.format = PixelFormat::rgb_bfloat16_planar;
    for (int c = 0; c < 3; ++c) {
      frame.plane[c] = reinterpret_cast<const std::uint8_t*>(upper_planar.data() + c * count);
      frame.pitch[c] = 2 * width;
    }
    expect_planes(frame, "rgb_bfloat16_planar");
  }
}

TEST(Colour, TheMatrixIsChosenAndSaid) {
  cu264::Config config;
  config.width = 1280, config.height = 720;
  EXPECT_EQ(cu264::encoder::coded_colour(config).matrix, 2);
  config.set("input-format", "rgb24");
  EXPECT_EQ(cu264::encoder::coded_colour(config).matrix, 1);
  config.height = 576;
  EXPECT_EQ(cu264::encoder::coded_colour(config).matrix, 6);
  config.colour.matrix = 1;
  EXPECT_EQ(cu264::encoder::coded_colour(config).matrix, 1);
  EXPECT_NO_THROW(cu264::encoder::validate(config));
  config.colour.matrix = 9;
  EXPECT_THROW(cu264::encoder::validate(config), cu264::Error);
}

}  // namespace
