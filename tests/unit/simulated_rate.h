// Rate control of pictures that exist as numbers only: thousands of them, with content that changes at cuts,
// curves that are wrong, and any number of pictures in flight.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "encoder/rate_control/gop_model.h"
#include "encoder/rate_control/rate_controller.h"

namespace cu264::simulated {

using encoder::BitsCurve;
using encoder::HrdParams;
using encoder::PictureControl;
using encoder::PictureQp;
using encoder::RateController;
using encoder::RateSettings;

inline constexpr int kColumns = 120, kRows = 68;
inline constexpr std::int64_t kOverhead = 11;

// A picture: its bits at QP 26, what they are multiplied with for each 6 steps of QP, and by how much the
// curve that the controller sees is wrong: by a factor, and in its slope.
struct Source {
  double bits = 400000;
  double halving = 2;
  double bias = 1;
  double slope = 1;
};

inline double bits_at(const Source& source, double qp) {
  return 600 + source.bits * std::pow(source.halving, (26 - qp) / 6);
}

inline BitsCurve curve_of(const Source& source, const PictureControl& control) {
  Source seen = source;
  seen.halving *= source.slope;
  const encoder::PictureKind kind = encoder::kind_of(control);
  return BitsCurve([=](int qp) {
    const double own_qp = encoder::own_qp_q8(kind, qp * 256) / 256.0;
    return static_cast<std::int64_t>(bits_at(seen, own_qp) / source.bias);
  });
}

inline double value(PictureQp qp) {
  return qp.qp + static_cast<double>(qp.raised_rows) / kRows;
}

struct Coded {
  std::int64_t bytes = 0;  // of the access unit; 0: left out
  double qp = 0;
  int codings = 0;
  std::int64_t filler = 0;
  std::int64_t fullness = 0;
  std::int64_t excess = 0;
};

struct Clip {
  std::vector<Source> pictures;
  std::function<RateSettings(std::size_t)> settings;
  std::vector<std::int64_t> durations;  // [picture]; empty: what the frame rate says
};

inline Clip clip_of(std::vector<Source> pictures, const RateSettings& settings) {
  return {std::move(pictures), [=](std::size_t) { return settings; }, {}};
}

// Codes with `reach` pictures in flight. A clip whose end is not announced continues after what is coded.
inline std::vector<Coded> simulate(const Clip& clip, int reach, bool announces_end = true) {
  RateController controller(kColumns, kRows);
  const std::size_t count = clip.pictures.size();
  std::vector<Coded> coded(count);
  std::vector<double> qps(count);
  std::vector<bool> reviewed(count), done(count);
  std::deque<std::size_t> in_flight;
  std::size_t expected = 0, planned = 0, settled = 0;
  const auto bytes_of = [&](std::size_t n) {
    return static_cast<std::int64_t>(bits_at(clip.pictures[n], qps[n]) / 8);
  };
  const auto code = [&](std::size_t n, PictureQp qp) {
    qps[n] = value(qp), done[n] = false;
    ++coded[n].codings;
    in_flight.push_back(n);
  };
  while (settled < count) {
    while (planned < count && in_flight.size() < static_cast<std::size_t>(reach)) {
      const auto control_of = [&](std::size_t n) {
        PictureControl control;
        control.settings = clip.settings(n);
        control.overhead = {kOverhead, 0};
        if (!clip.durations.empty()) control.duration = clip.durations[n];
        const auto gop = static_cast<std::size_t>(control.settings.gop);
        control.key = gop == 0 ? n == 0 : n % gop == 0;
        return control;
      };
      if (!controller.can_plan(control_of(planned))) break;
      const std::size_t lookahead = static_cast<std::size_t>(clip.settings(planned).lookahead);
      for (; expected < std::min(planned + lookahead + 1, count); ++expected) {
        const PictureControl control = control_of(expected);
        controller.announce(curve_of(clip.pictures[expected], control), control,
                            control.settings.crf_q8.value_or(0));
      }
      if (announces_end && expected == count) controller.end();
      code(planned, controller.plan());
      ++planned;
    }
    const std::size_t n = in_flight.front();
    in_flight.pop_front();
    const auto again =
        reviewed[n] ? controller.review_again(n, bytes_of(n)) : controller.review(n, bytes_of(n));
    reviewed[n] = true, done[n] = true;
    if (again) code(n, *again);
    while (settled < count && reviewed[settled] && done[settled]) {
      const RateController::Settlement result = controller.settle(settled);
      if (result.again) {
        code(settled, *result.again);
        break;
      }
      Coded& own = coded[settled];
      own.qp = result.mean_qp, own.fullness = result.fullness, own.excess = result.excess_bytes;
      own.filler = result.filler_bytes;
      if (!result.too_large) {
        own.bytes =
            bytes_of(settled) + kOverhead + static_cast<std::int64_t>(result.messages.size()) + own.filler;
      }
      ++settled;
    }
  }
  return coded;
}

inline RateSettings target_of(std::int64_t bitrate, std::int64_t max_bitrate, double seconds,
                              bool cbr = false) {
  RateSettings settings;
  settings.bitrate = bitrate;
  settings.hrd = HrdParams{
      max_bitrate, static_cast<std::int64_t>(static_cast<double>(max_bitrate) * seconds) / 16 * 16, cbr};
  return settings;
}

// Scenes of random length and complexity; each has its own error of the curve.
inline std::vector<Source> scenes(int pictures, double bias, double noise, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<Source> clip;
  while (static_cast<int>(clip.size()) < pictures) {
    Source scene;
    scene.bits = 400000 * std::pow(2, normal(random));
    scene.halving = 1.7 + 0.1 * (static_cast<int>(random() % 5));
    scene.bias = std::exp(bias * normal(random));
    for (int left = 20 + static_cast<int>(random() % 200);
         left > 0 && static_cast<int>(clip.size()) < pictures; --left) {
      Source picture = scene;
      scene.bits *= std::exp(0.01 * normal(random));
      picture.bias *= std::exp(noise * normal(random));
      picture.bits = scene.bits;
      clip.push_back(picture);
    }
  }
  return clip;
}

inline bool same(const std::vector<Coded>& a, const std::vector<Coded>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Coded& x, const Coded& y) {
    return x.bytes == y.bytes && x.qp == y.qp && x.codings == y.codings && x.filler == y.filler;
  });
}

}  // namespace cu264::simulated
