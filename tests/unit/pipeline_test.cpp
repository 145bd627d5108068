// The pipeline, in front of a backend that codes nothing but keeps watch over its
// contract: pictures begin when a batch is full or flushed, no more are submitted than its capacity allows,
// and none between a flush and the last picture of it.
#include "encoder/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "cu264/status.h"
#include "tests/unit/predicted_bits.h"

namespace {

using namespace cu264;
using namespace cu264::encoder;

// A picture of which nothing exists but its measure; Frame::pts is how rich it is, from 0 to 1000.
core::PictureMeasure measure_of(std::int64_t richness) {
  core::PictureMeasure measure;
  measure.macroblocks = measure.measured = 8160;
  measure.activity = static_cast<std::uint64_t>(richness) * 3000;
  for (auto& histogram : measure.histogram) {
    for (int bin = 0; bin < core::kMeasureBins; ++bin)
      histogram[bin] = static_cast<std::uint32_t>(512 * richness >> (bin / core::kMeasureBinsPerOctave));
  }
  return measure;
}

// The richness of pictures that cannot be coded, measured or analysed.
constexpr std::int64_t kBrokenPicture = 777, kUnmeasuredPicture = 778, kRefusedPicture = 779;
// The richness of a scene's first picture.
constexpr std::int64_t kCutPicture = 900;

class FakeFrame final : public AnalysedFrame {
 public:
  explicit FakeFrame(const Frame& frame) : frame_(frame), measure_(measure_of(frame.pts)) {}
  bool done() const override { return looks_++ > 0; }  // the first look is always too early
  const core::PictureMeasure& measure() override {
    if (frame_.pts == kUnmeasuredPicture) throw Error(ErrorCode::encode_failure, "not measured");
    looks_ = 1;
    return measure_;
  }
  core::SceneSums scene() override {
    looks_ = 1;
    return frame_.pts == kCutPicture ? core::SceneSums{100, 50} : core::SceneSums{10, 100};
  }
  const Frame& frame() const override { return frame_; }
  Written written() const override { return nullptr; }

 private:
  Frame frame_;
  core::PictureMeasure measure_;
  mutable int looks_ = 0;
};

class FakeAnalyser final : public Analyser {
 public:
  std::unique_ptr<AnalysedFrame> analyse(const Frame& frame, Written, const core::PictureParams&) override {
    if (frame.pts == kRefusedPicture) throw Error(ErrorCode::encode_failure, "refused");
    return std::make_unique<FakeFrame>(frame);
  }
};

std::unique_ptr<Analyser> fake_analyser(const StreamParams&, const std::vector<int>&) {
  return std::make_unique<FakeAnalyser>();
}

class FakeBackend final : public Backend {
 public:
  // `submitted` takes the indices of pictures, unless it is null.
  explicit FakeBackend(int batch, std::vector<std::uint64_t>* submitted = nullptr)
      : batch_(static_cast<std::size_t>(batch)), submitted_(submitted) {}
  ~FakeBackend() override { EXPECT_EQ(begun_, 0u); }

  int capacity() const override { return static_cast<int>(2 * batch_); }
  void submit(const Job& job) override {
    EXPECT_LT(in_flight_.size(), 2 * batch_) << "beyond the capacity";
    EXPECT_FALSE(flushed_ && !in_flight_.empty()) << "after a flush";
    flushed_ = false;
    in_flight_.push_back({job.frame.frame.pts, job.picture});
    if (submitted_ != nullptr) submitted_->push_back(job.picture.index);
    if (in_flight_.size() - begun_ == batch_) begun_ += batch_;
  }
  void flush() override {
    flushed_ = true;
    begun_ = in_flight_.size();
  }
  // Every third look finds what was begun ready, and it stays so until it is collected.
  State poll() override {
    ready_ = begun_ > 0 && (ready_ || ++looks_ % 3 == 0);
    return ready_ ? State::ready : begun_ > 0 ? State::working : State::idle;
  }
  void notify(std::shared_ptr<Notifier> notifier) override { notifier->signal(); }
  CodedAccessUnit collect() override {
    EXPECT_GT(begun_, 0u) << "collect would wait for ever";
    if (begun_ == 0) throw Error(ErrorCode::encode_failure, "waits for ever");
    const Coding coding = in_flight_.front();
    in_flight_.pop_front();
    --begun_;
    ready_ = false;
    const int qp_q8 = coding.params.qp * 256 + coding.params.raised_rows * 256 / 68;
    const double error = 0.9 + 0.02 * static_cast<double>(coding.params.index % 11);
    const auto bits =
        static_cast<double>(test::predicted_bits(measure_of(coding.richness), qp_q8, Preset::balanced));
    CodedAccessUnit unit;
    unit.picture = coding.params;
    if (coding.richness == kBrokenPicture) {
      unit.error = std::make_exception_ptr(Error(ErrorCode::encode_failure, "broken"));
      return unit;
    }
    unit.slices.vector().resize(static_cast<std::size_t>(bits * error / 8) + 20,
                                static_cast<std::uint8_t>(coding.params.idr_pic_id));
    unit.stats.qp = coding.params.qp;
    return unit;
  }
  bool restart(const StreamParams&, int) override {
    EXPECT_TRUE(in_flight_.empty());
    return true;
  }

 private:
  struct Coding {
    std::int64_t richness;
    core::PictureParams params;
  };
  const std::size_t batch_;
  std::vector<std::uint64_t>* const submitted_;
  std::deque<Coding> in_flight_;
  std::size_t begun_ = 0;
  bool ready_ = false;
  int looks_ = 0;
  bool flushed_ = false;
};

StreamParams params_of() {
  StreamParams params;
  params.format.width = 1920, params.format.height = 1080;
  params.format.mb_width = 120, params.format.mb_height = 68;
  params.decisions.aq = AqParams{AqMode::none, 0, false};
  params.pacing.controls_rate = params.pacing.codes_again = true;
  params.execution.streams = 4;
  params.pacing.lookahead = kDefaultLookahead;
  return params;
}

PictureControl control_of(const Config& config) {
  PictureControl control;
  control.settings = rate_settings(config);
  control.overhead = {30, 0};
  return control;
}

Config config_of() {
  Config config;
  config.width = 1920, config.height = 1080;
  return config;
}

struct Result {
  int qp = 0;
  double mean_qp = 0;
  std::size_t bytes = 0;
  int codings = 0;
  bool operator==(const Result& other) const {
    return qp == other.qp && mean_qp == other.mean_qp && bytes == other.bytes && codings == other.codings;
  }
};

std::vector<std::int64_t> clip_of(int pictures) {
  std::vector<std::int64_t> clip;
  std::mt19937 random(3);
  std::int64_t richness = 100;
  for (int n = 0; n < pictures; ++n) {
    if (n % 40 == 0) richness = 1 + static_cast<std::int64_t>(random() % 700);
    clip.push_back(richness + static_cast<std::int64_t>(random() % 20));
  }
  return clip;
}

// Codes a clip as an Encoder does: as many as it may, then one for one.
std::vector<Result> code(Pipeline& backend, const std::vector<std::int64_t>& clip,
                         const PictureControl& control, std::uint32_t stream = 0) {
  std::vector<Result> results;
  std::size_t pending = 0;
  const auto collect = [&] {
    const CodedAccessUnit unit = backend.collect();
    EXPECT_EQ(unit.picture.index, results.size()) << "out of order";
    results.push_back({unit.stats.qp, unit.stats.mean_qp, unit.slices.size(), unit.stats.codings});
    --pending;
  };
  for (std::size_t n = 0; n < clip.size(); ++n) {
    if (pending == static_cast<std::size_t>(backend.capacity())) collect();
    Frame frame;
    frame.pts = clip[n];
    core::PictureParams picture;
    picture.index = n, picture.stream = stream, picture.idr_pic_id = static_cast<std::uint8_t>(n % 2);
    backend.submit({{frame}, picture, control});
    ++pending;
  }
  backend.release(stream, true);
  backend.flush();
  while (pending > 0) collect();
  return results;
}

std::unique_ptr<Pipeline> open(int batch, std::vector<std::uint64_t>* submitted = nullptr) {
  return std::make_unique<Pipeline>(std::make_unique<FakeBackend>(batch, submitted), fake_analyser,
                                    params_of(), std::vector<int>{}, batch);
}

std::vector<Config> modes() {
  std::vector<Config> modes(8, config_of());
  modes[0].crf = 24.5;
  modes[1].bitrate = 40000000;
  modes[2].bitrate = 40000000, modes[2].cbr = true, modes[2].buffer_bits = 8000000;
  modes[3].qp = 20, modes[3].max_frame_bytes = 150000;
  modes[4].frame_bytes = 150000;
  modes[5].crf = 20, modes[5].max_bitrate = 60000000, modes[5].buffer_bits = 30000000;
  modes[6].bitrate = 40000000, modes[6].lookahead = 0;
  modes[7].bitrate = 40000000, modes[7].max_bitrate = 60000000, modes[7].lookahead = 7;
  return modes;
}

TEST(Pipeline, BatchesDoNotMatter) {
  const std::vector<std::int64_t> clip = clip_of(600);
  for (const Config& mode : modes()) {
    const PictureControl control = control_of(mode);
    const std::vector<Result> expected = code(*open(1), clip, control);
    int again = 0;
    for (const Result& result : expected) again += result.codings > 1;
    EXPECT_TRUE(mode.crf || again > 0) << "the test has nothing to code again";
    for (const int batch : {2, 7, 32, 64}) {
      auto backend = open(batch);
      EXPECT_LE(backend->capacity(), kFeedbackDistance + params_of().pacing.lookahead);
      EXPECT_EQ(code(*backend, clip, control), expected) << batch;
      EXPECT_TRUE(backend->restart(params_of(), batch));
      EXPECT_EQ(code(*backend, clip, control), expected) << "the second clip, " << batch;
    }
  }
}

// Others wait for a picture that is coded again, so it is submitted before all that were not submitted yet,
// and at most as many pictures lie between as the inner backend holds.
TEST(Pipeline, PicturesCodedAgainComeFirst) {
  constexpr int kBatch = 16;
  std::vector<std::uint64_t> submitted;
  const auto backend = open(kBatch, &submitted);
  EXPECT_EQ(backend->capacity(), (2 + 4) * kBatch + params_of().pacing.lookahead);
  Config config = config_of();
  config.qp = 20, config.max_frame_bytes = 150000;
  code(*backend, clip_of(600), control_of(config));
  std::vector<std::size_t> last(600, submitted.size());
  int again = 0;
  for (std::size_t at = 0; at < submitted.size(); ++at) {
    std::size_t& before = last.at(submitted[at]);
    if (before != submitted.size()) {
      ++again;
      EXPECT_LE(at - before, std::size_t{2 * kBatch}) << "picture " << submitted[at];
    }
    before = at;
  }
  EXPECT_GT(again, 20);
}

// A clip that ends after a drain has the same bytes, whether the pictures drained are planned by then or
// not.
TEST(Pipeline, AnEndAfterADrainChangesNothing) {
  std::vector<std::int64_t> clip(25, 50);
  std::fill(clip.begin() + 12, clip.end(), 100);  // so that bits are left over at the end
  const PictureControl control = control_of(modes()[1]);
  std::vector<std::vector<std::size_t>> sizes(2);
  for (const bool collects_between : {false, true}) {
    auto backend = open(8);
    std::vector<std::size_t>& own = sizes[collects_between ? 1 : 0];
    for (std::size_t n = 0; n < clip.size(); ++n) {
      Frame frame;
      frame.pts = clip[n];
      core::PictureParams picture;
      picture.index = n, picture.idr_pic_id = static_cast<std::uint8_t>(n % 2);
      backend->submit({{frame}, picture, control});
    }
    const auto collect_rest = [&] {
      backend->flush();
      while (own.size() < clip.size()) own.push_back(backend->collect().slices.size());
    };
    EXPECT_EQ(backend->ahead(0), 25u);
    backend->release(0, false);
    if (collects_between) collect_rest();
    EXPECT_EQ(backend->ahead(0), 0u);
    backend->release(0, true);
    collect_rest();
  }
  EXPECT_EQ(sizes[0], sizes[1]);
}

// Pictures of several streams take turns; each stream has what it has alone.
TEST(Pipeline, StreamsDoNotMatterToEachOther) {
  const std::vector<Config> kinds = modes();
  const std::vector<std::int64_t> clip = clip_of(200);
  std::vector<std::vector<Result>> alone;
  for (std::uint32_t s = 0; s < 4; ++s) alone.push_back(code(*open(8), clip, control_of(kinds[s])));
  auto backend = open(8);
  std::vector<std::vector<Result>> together(4);
  for (std::size_t n = 0; n < clip.size(); ++n) {
    for (std::uint32_t s = 0; s < 4; ++s) {
      Frame frame;
      frame.pts = clip[n];
      core::PictureParams picture;
      picture.index = n, picture.stream = s, picture.idr_pic_id = static_cast<std::uint8_t>(n % 2);
      backend->submit({{frame}, picture, control_of(kinds[s])});
      if (n + 1 == clip.size()) backend->release(s, true);
    }
    backend->flush();  // as a lane does after what it takes
    while (backend->released() > (n + 1 < clip.size() ? 4u : 0u)) {
      const CodedAccessUnit unit = backend->collect();
      together[unit.picture.stream].push_back(
          {unit.stats.qp, unit.stats.mean_qp, unit.slices.size(), unit.stats.codings});
    }
  }
  for (std::uint32_t s = 0; s < 4; ++s) EXPECT_EQ(together[s], alone[s]) << s;
}

// With a constant QP nothing is measured, and as many pictures are taken as the backend takes.
TEST(Pipeline, ConstantQp) {
  StreamParams params = params_of();
  params.decisions.aq.reset();
  params.pacing.controls_rate = params.pacing.codes_again = false;
  const auto no_analyser = [](const StreamParams&, const std::vector<int>&) {
    ADD_FAILURE() << "pictures are measured";
    return std::unique_ptr<Analyser>();
  };
  Pipeline pipeline(std::make_unique<FakeBackend>(4), no_analyser, params, {}, 4);
  EXPECT_EQ(pipeline.capacity(), 8);
  std::size_t collected = 0;
  for (std::size_t n = 0; n < 21; ++n) {
    if (n - collected == 8) {
      EXPECT_EQ(pipeline.collect().picture.index, collected);
      ++collected;
    }
    Frame frame;
    frame.pts = 100;
    core::PictureParams picture;
    picture.index = n, picture.qp = 33;
    pipeline.submit({{frame}, picture, {}, {static_cast<std::int64_t>(n) * 7, nullptr, {}}});
  }
  pipeline.flush();
  for (; collected < 21; ++collected) {
    const CodedAccessUnit unit = pipeline.collect();
    EXPECT_EQ(unit.picture.index, collected);
    EXPECT_EQ(unit.label.pts, static_cast<std::int64_t>(collected) * 7);
    EXPECT_EQ(unit.stats.qp, 33);
    EXPECT_TRUE(unit.hrd_messages.empty());
  }
}

// With a constant QP pictures wait for what is known of their scenes alone. Those that wait while others are
// flushed are not left for another batch.
TEST(Pipeline, ScenesBeginGops) {
  StreamParams params = params_of();
  params.format.inter = params.decisions.scene_cuts = true;
  params.pacing.controls_rate = params.pacing.codes_again = false;
  for (const int batch : {1, 4, 30}) {
    std::vector<std::uint64_t> submitted;
    Pipeline pipeline(std::make_unique<FakeBackend>(batch, &submitted), fake_analyser, params, {}, batch);
    EXPECT_EQ(pipeline.capacity(), 3 * batch);
    std::vector<std::uint64_t> keys;
    std::size_t pending = 0;
    const auto collect = [&] {
      const CodedAccessUnit unit = pipeline.collect();
      if (unit.picture.key) keys.push_back(unit.picture.index);
      --pending;
    };
    for (std::uint64_t n = 0; n < 21; ++n) {
      if (pending == static_cast<std::size_t>(pipeline.capacity())) collect();
      Frame frame;
      frame.pts = n == 5 || n == 6 || n == 13 ? kCutPicture : 100;
      Job job{{frame}, {}};
      job.picture.index = n, job.picture.key = n == 0, job.gop = 0;
      EXPECT_EQ(pipeline.submit(std::move(job)), nullptr);
      ++pending;
    }
    pipeline.flush();
    while (pending > 0) {
      collect();
      EXPECT_TRUE(batch != 30 || submitted.size() == 21) << "in one batch";
    }
    EXPECT_EQ(keys, (std::vector<std::uint64_t>{0, 5, 13})) << batch;
  }
}

// The error belongs to its picture, and those after it go on.
TEST(Pipeline, ErrorsBelongToTheirPictures) {
  std::vector<std::int64_t> clip = clip_of(100);
  for (std::int64_t& richness : clip) richness = std::min(richness, kBrokenPicture - 1);
  const std::int64_t faults[] = {kBrokenPicture, kUnmeasuredPicture, kRefusedPicture};
  for (int trial = 0; trial < 9; ++trial) {
    const std::size_t broken = trial / 3 * std::size_t{99} / 2;
    clip[broken] = faults[trial % 3];
    auto backend = open(16);
    std::size_t errors = 0, next = 0;
    const auto collect = [&] {
      const CodedAccessUnit unit = backend->collect();
      EXPECT_EQ(unit.error != nullptr, next == broken);
      EXPECT_EQ(unit.picture.index, next);
      errors += unit.error != nullptr;
      ++next;
    };
    for (std::size_t n = 0; n < clip.size(); ++n) {
      if (n - next == static_cast<std::size_t>(backend->capacity())) collect();
      Frame frame;
      frame.pts = clip[n];
      core::PictureParams picture;
      picture.index = n, picture.idr_pic_id = static_cast<std::uint8_t>(n % 2);
      const std::exception_ptr error = backend->submit({{frame}, picture, control_of(modes()[1])});
      EXPECT_TRUE(error || clip[n] != kRefusedPicture) << "what is known at once is said at once";
      EXPECT_TRUE(!error || n == broken);
    }
    backend->release(0, true);
    backend->flush();
    while (next < clip.size()) collect();
    EXPECT_EQ(errors, 1u);
    clip[broken] = 1;
  }
}

// What would have preceded a picture that failed precedes the next one, and is counted there.
TEST(Pipeline, HeadersOfErrorsAreCountedWithTheNextPicture) {
  Config config = config_of();
  config.frame_bytes = 150000;
  for (const std::int64_t fault : {kBrokenPicture, kUnmeasuredPicture, kRefusedPicture}) {
    auto backend = open(3);
    std::vector<std::size_t> sizes;
    const std::vector<std::int64_t> clip = {fault, 200, 210, 220};
    for (std::size_t n = 0; n < clip.size(); ++n) {
      PictureControl control = control_of(config);
      control.overhead = n == 0 ? Overhead{40, 500} : n == 1 ? Overhead{} : Overhead{30, 0};
      Frame frame;
      frame.pts = clip[n];
      core::PictureParams picture;
      picture.index = n, picture.idr_pic_id = static_cast<std::uint8_t>(n % 2);
      backend->submit({{frame}, picture, control});
    }
    backend->flush();
    EXPECT_TRUE(backend->collect().error);
    EXPECT_EQ(backend->collect().slices.size() + 540, 150000u);
    EXPECT_EQ(backend->collect().slices.size() + 30, 150000u);
    EXPECT_EQ(backend->collect().slices.size() + 30, 150000u);
  }
}

// A picture that is left out has neighbours of different idr_pic_id (H.264 7.4.3) all the same.
TEST(Pipeline, NeighboursOfPicturesLeftOutDiffer) {
  Config config = config_of();
  config.max_frame_bytes = 20000, config.on_overflow = OnOverflow::drop;
  std::vector<std::int64_t> clip(60, 5);
  for (const std::size_t n : {0, 7, 8, 9, 20, 22, 24, 40, 41}) clip[n] = 50000;
  auto backend = open(8);
  const PictureControl control = control_of(config);
  int before = -1, dropped = 0;
  for (std::size_t n = 0; n < clip.size(); ++n) {
    Frame frame;
    frame.pts = clip[n];
    core::PictureParams picture;
    picture.index = n, picture.idr_pic_id = static_cast<std::uint8_t>(n % 2);
    backend->submit({{frame}, picture, control});
    backend->flush();
    const CodedAccessUnit unit = backend->collect();
    EXPECT_EQ(unit.dropped, clip[n] == 50000) << n;
    if (unit.dropped) {
      ++dropped;
      continue;
    }
    EXPECT_NE(unit.slices[0], before) << n;
    before = unit.slices[0];
  }
  EXPECT_EQ(dropped, 9);
}

// Someone who waits for packets is told: every answer of will_signal() and every signal leads on.
TEST(Pipeline, WaitingEnds) {
  for (const int trial : {0, 1, 2, 3}) {
    const int batch = trial % 2 == 0 ? 1 : 5;
    const Config mode = modes()[trial < 2 ? 3 : 7];
    auto backend = open(batch);
    const auto notifier = std::make_shared<Notifier>();
    backend->notify(notifier);
    const std::vector<std::int64_t> clip = clip_of(60);
    std::size_t collected = 0;
    for (std::size_t n = 0; n < clip.size(); ++n) {
      Frame frame;
      frame.pts = clip[n];
      core::PictureParams picture;
      picture.index = n, picture.idr_pic_id = static_cast<std::uint8_t>(n % 2);
      backend->submit({{frame}, picture, control_of(mode)});
      if (n + 1 == clip.size()) {
        backend->release(0, true);
        backend->flush();
      }
      const bool must = n + 1 - collected == static_cast<std::size_t>(backend->capacity());
      for (int looks = 0; (must || n + 1 == clip.size()) && collected < n + (n + 1 == clip.size() ? 1 : 0);
           ++looks) {
        ASSERT_LT(looks, 100000) << "it never becomes ready";
        if (backend->poll() != State::ready) {
          ASSERT_TRUE(backend->will_signal()) << "full or flushed, but nothing will come";
          continue;
        }
        backend->collect();
        ++collected;
        if (n + 1 < clip.size()) break;
      }
    }
    EXPECT_EQ(collected, clip.size());
  }
}

}  // namespace
