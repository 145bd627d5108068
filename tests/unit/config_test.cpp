// Config::set by name, and the configurations that are refused before anything is built.
#include "encoder/config.h"

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "encoder/edge_thresholds.h"
#include "tests/support/error_of.h"

namespace {

using cu264::AdaptiveQuantisation;
using cu264::Config;
using cu264::Error;
using cu264::ErrorCode;
using cu264::kMaxEdgeGuided;
using cu264::encoder::validate;
using cu264::test::error_of;

// The papers' stages bring CAVLC along, and a pipeline is three options at once.
TEST(Config, Stages) {
  using cu264::EntropyCoder;
  using cu264::Packing;
  using cu264::Profile;
  using cu264::encoder::uses_cabac;
  for (const auto& [name, value] :
       {std::pair{"entropy", "cavlcu"}, {"packing", "gvle"}, {"pipeline", "published"}}) {
    for (const Profile profile : {Profile::automatic, Profile::baseline, Profile::main, Profile::high}) {
      Config c;
      c.width = c.height = 16, c.profile = profile;
      c.set(name, value);
      validate(c);
      EXPECT_FALSE(uses_cabac(c)) << name << " " << value;
      EXPECT_EQ(cu264::encoder::uses_transform_8x8(c),
                profile == Profile::automatic || profile == Profile::high);
      c.set(name, "production");
      EXPECT_EQ(uses_cabac(c), profile != Profile::baseline) << name;
    }
  }
  Config c;
  c.set("pipeline", "published");
  EXPECT_EQ(c.entropy, EntropyCoder::cavlcu);
  EXPECT_EQ(c.packing, Packing::gvle);
  EXPECT_EQ(c.edge_guided, 2);
  c.edge_guided = 1;
  c.set("pipeline", "published");
  EXPECT_EQ(c.edge_guided, 1);
  c.set("packing", "production");
  EXPECT_EQ(c.packing, Packing::production);
  EXPECT_EQ(c.entropy, EntropyCoder::cavlcu);
  EXPECT_EQ(cu264::encoder::profile_reason(c), "the entropy coder cavlcu needs CAVLC");
  c.entropy = static_cast<EntropyCoder>(7), c.width = c.height = 16;
  error_of(ErrorCode::invalid_argument, [&] { validate(c); });
  c.entropy = EntropyCoder::production, c.packing = static_cast<Packing>(-1);
  error_of(ErrorCode::invalid_argument, [&] { validate(c); });
}

TEST(Config, CodePointsHaveNamesOrNumbers) {
  Config c;
  c.set("colorprim", "9"), c.set("transfer", "16"), c.set("colormatrix", "15");
  EXPECT_EQ(c.colour.primaries, 9);
  EXPECT_EQ(c.colour.transfer, 16);
  EXPECT_EQ(c.colour.matrix, 15);
  EXPECT_EQ(c.text("colorprim"), "bt2020");
  EXPECT_EQ(c.text("transfer"), "smpte2084");
  EXPECT_EQ(c.text("colormatrix"), "15");
  c.width = c.height = 16;
  validate(c);
  c.set("colormatrix", "0");
  EXPECT_NE(error_of(ErrorCode::invalid_argument, [&] { validate(c); }).find("RGB"), std::string::npos);
}

TEST(Config, SetReadsEveryName) {
  Config c;
  for (const auto& [name, value] :
       std::vector<std::pair<const char*, const char*>>{{"qp", "51"},
                                                        {"preset", "best"},
                                                        {"profile", "main"},
                                                        {"cavlc", "on"},
                                                        {"slices", "4"},
                                                        {"deblock", "off"},
                                                        {"backend", "cpu"},
                                                        {"threads", "7"},
                                                        {"fps", "60000/2002"},
                                                        {"sar", "32:22"},
                                                        {"range", "full"},
                                                        {"colorprim", "bt2020"},
                                                        {"transfer", "smpte2084"},
                                                        {"colormatrix", "bt2020nc"},
                                                        {"chromaloc", "2"},
                                                        {"level", "4.1"},
                                                        {"size", "1920x1080"},
                                                        {"headers", "every"},
                                                        {"batch", "16"},
                                                        {"device", "2,0"},
                                                        {"input-format", "nv12"}}) {
    c.set(name, value);
  }
  EXPECT_EQ(c.qp, 51);
  EXPECT_EQ(c.preset, cu264::Preset::best);
  EXPECT_EQ(c.profile, cu264::Profile::main);
  EXPECT_TRUE(c.cavlc);
  EXPECT_EQ(c.slices, 4);
  EXPECT_FALSE(c.deblock);
  EXPECT_EQ(c.backend, cu264::BackendChoice::cpu);
  EXPECT_EQ(c.threads, 7);
  EXPECT_EQ(c.frame_rate.num, 30000);
  EXPECT_EQ(c.frame_rate.den, 1001);
  EXPECT_EQ(c.sample_aspect_ratio.num, 16);
  EXPECT_EQ(c.sample_aspect_ratio.den, 11);
  EXPECT_TRUE(c.colour.full_range);
  EXPECT_EQ(c.colour.primaries, 9);
  EXPECT_EQ(c.colour.transfer, 16);
  EXPECT_EQ(c.colour.matrix, 9);
  EXPECT_EQ(c.chroma_location, 2);
  EXPECT_EQ(c.level_idc, 41);
  EXPECT_EQ(c.width, 1920);
  EXPECT_EQ(c.height, 1080);
  EXPECT_EQ(c.headers, cu264::HeaderPlacement::every_packet);
  EXPECT_EQ(c.batch, 16);
  EXPECT_EQ(c.devices, (std::vector<int>{2, 0}));
  EXPECT_EQ(c.input_format, cu264::PixelFormat::nv12);
  EXPECT_NO_THROW(validate(c));
}

TEST(Config, EveryOptionIsDescribedAndSet) {
  std::string unknown = error_of(ErrorCode::invalid_argument, [] { Config().set("no-such-option", "1"); });
  for (const cu264::ConfigOption& option : cu264::config_options()) {
    EXPECT_NE(std::string(option.value), "") << option.name;
    EXPECT_TRUE(!option.meaning || *option.meaning != '\0') << option.name;
    EXPECT_NE(unknown.find(option.name), std::string::npos) << option.name;
    // No option takes this value, so an error that names the option shows that the option is known.
    const std::string what =
        error_of(ErrorCode::invalid_argument, [&] { Config().set(option.name, "no-such-value"); });
    EXPECT_EQ(what.rfind("bad " + std::string(option.name), 0), 0u) << what;
    if (option.implicit_value) {
      EXPECT_NO_THROW(Config().set(option.name, option.implicit_value)) << option.name;
    }
  }
}

TEST(Config, SetReadsDecimalRates) {
  Config c;
  c.set("fps", "29.97");
  EXPECT_EQ(c.frame_rate.num, 2997);
  EXPECT_EQ(c.frame_rate.den, 100);
  c.set("fps", "12.5");
  EXPECT_EQ(c.frame_rate.num, 25);
  EXPECT_EQ(c.frame_rate.den, 2);
  c.set("sar", "0");
  EXPECT_EQ(c.sample_aspect_ratio.num, 0);
}

TEST(Config, SetReadsOtherSpellings) {
  Config c;
  c.threads = 3;
  c.set("threads", "auto");
  EXPECT_EQ(c.threads, 0);
  for (const auto& [text, level_idc] : std::vector<std::pair<const char*, int>>{
           {"1b", 9}, {"1", 10}, {"4", 40}, {"4.0", 40}, {"31", 31}, {"6.2", 62}, {"auto", 0}}) {
    c.set("level", text);
    EXPECT_EQ(c.level_idc, level_idc) << text;
  }
  c.set("range", "pc");
  EXPECT_TRUE(c.colour.full_range);
  c.set("range", "tv");
  EXPECT_FALSE(c.colour.full_range);
}

TEST(Config, SetRefusesAndSaysWhatIsAccepted) {
  const std::pair<const char*, std::vector<const char*>> bad[] = {
      {"qp", {"", "52", "-1", "27 ", " 27", "2x", "99999999999", "0x10"}},
      {"preset", {"", "Fast", "fastest", "slow"}},
      {"profile", {"high10", "Main", ""}},
      {"cavlc", {"", "cabac"}},
      {"slices", {"0", "-1", "513", "two"}},
      {"deblock", {"", "maybe", "2"}},
      {"backend", {"gpu", ""}},
      {"threads", {"-1", "1025", "all"}},
      {"fps",
       {"", "0", "-25", "25/0", "25/-1", "abc", "1/2/3", "25.", ".", "1e3", "25.0000001", "99999999999"}},
      {"sar", {"", "1:0", "-1:1", "a:b", "1:", ":1"}},
      {"range", {"PC", "", "2"}},
      {"colorprim", {"", "BT709", "-1", "256", "9.", "bt601"}},
      {"transfer", {"", "srgb"}},
      {"colormatrix", {"", "GBR", "bt601"}},
      {"chromaloc", {"", "-1", "6", "left"}},
      {"level", {"", "0", "7", "1.4", "3.14", "63", "4,1", "b"}},
      {"size",
       {"", "0x0", "-1x5", "8193x16", "16x8193", "16", "16x", "x16", "16X16", "16x16x16", "99999999999x1"}},
      {"headers", {"", "all"}},
      {"batch", {"", "-1", "1025", "auto"}},
      {"device", {"", "-1", "64", "0,0", "0,", ",1", "0;1", "all"}},
      {"input-format", {"", "rgb", "yuv420p"}}};
  for (const auto& [name, values] : bad) {
    for (const char* value : values) {
      Config c;
      const std::string what = error_of(ErrorCode::invalid_argument, [&, n = name] { c.set(n, value); });
      EXPECT_EQ(what.rfind("bad " + std::string(name) + " \"" + value + "\" (use ", 0), 0u) << what;
    }
  }
  Config c;
  EXPECT_NE(
      error_of(ErrorCode::invalid_argument, [&] { c.set("preset", "slow"); }).find("fast, balanced or best"),
      std::string::npos);
  EXPECT_NE(
      error_of(ErrorCode::invalid_argument, [&] { c.set("keyint", "1"); }).find("unknown option \"keyint\""),
      std::string::npos);
}

TEST(Config, ValidateRefusesEachField) {
  Config good;
  good.width = 64, good.height = 48;
  EXPECT_NO_THROW(validate(good));
  const std::pair<const char*, std::function<void(Config&)>> faults[] = {
      {"width", [](Config& c) { c.width = 0; }},
      {"width", [](Config& c) { c.width = -1; }},
      {"width", [](Config& c) { c.width = 8193; }},
      {"height", [](Config& c) { c.height = 0; }},
      {"height", [](Config& c) { c.height = 8193; }},
      {"qp", [](Config& c) { c.qp = -1; }},
      {"qp", [](Config& c) { c.qp = 52; }},
      {"preset", [](Config& c) { c.preset = static_cast<cu264::Preset>(9); }},
      {"profile", [](Config& c) { c.profile = static_cast<cu264::Profile>(9); }},
      {"adaptive quantisation", [](Config& c) { c.aq = static_cast<AdaptiveQuantisation>(9); }},
      {"headers", [](Config& c) { c.headers = static_cast<cu264::HeaderPlacement>(-1); }},
      {"backend", [](Config& c) { c.backend = static_cast<cu264::BackendChoice>(3); }},
      {"pixel format", [](Config& c) { c.input_format = static_cast<cu264::PixelFormat>(99); }},
      {"watermark scheme",
       [](Config& c) {
         c.watermark.emplace(cu264::EncoderWatermark{cu264::ProtectionKey::random(), {1}});
         c.watermark->scheme = static_cast<cu264::WatermarkScheme>(7);
       }},
      {"chroma_location", [](Config& c) { c.chroma_location = 6; }},
      {"chroma_location", [](Config& c) { c.chroma_location = -2; }},
      {"level_idc", [](Config& c) { c.level_idc = 14; }},
      {"slices", [](Config& c) { c.slices = 0; }},
      {"slices", [](Config& c) { c.slices = 4; }},
      {"threads", [](Config& c) { c.threads = -1; }},
      {"threads", [](Config& c) { c.threads = 1025; }},
      {"frame rate",
       [](Config& c) {
         c.frame_rate = {0, 1};
       }},
      {"frame rate",
       [](Config& c) {
         c.frame_rate = {25, 0};
       }},
      {"time base",
       [](Config& c) {
         c.time_base = {-1, 1};
       }},
      {"sample aspect ratio",
       [](Config& c) {
         c.sample_aspect_ratio = {1, 0};
       }},
      {"sample aspect ratio", [](Config& c) { c.sample_aspect_ratio = {65537, 1}; }},
      {"primaries", [](Config& c) { c.colour.primaries = 256; }},
      {"transfer", [](Config& c) { c.colour.transfer = -1; }},
      {"matrix", [](Config& c) { c.colour.matrix = 300; }},
      {"matrix", [](Config& c) { c.colour.matrix = 0; }}};
  for (const auto& [field, spoil] : faults) {
    Config c = good;
    spoil(c);
    const std::string what = error_of(ErrorCode::invalid_argument, [&] { validate(c); });
    EXPECT_NE(what.find(field), std::string::npos) << what;
    EXPECT_NE(what.find('('), std::string::npos) << "no remedy: " << what;
  }
}

TEST(Config, OneAdaptiveQuantisationOnAnyDevices) {
  Config c;
  c.width = 64, c.height = 64, c.devices = {0, 1};
  c.edge_guided = kMaxEdgeGuided;
  EXPECT_NO_THROW(validate(c));
  c.aq = AdaptiveQuantisation::variance;
  EXPECT_NE(error_of(ErrorCode::invalid_argument, [&] { validate(c); }).find("edge-guided and aq"),
            std::string::npos);
  c.edge_guided = 0;
  EXPECT_NO_THROW(validate(c));
  c.edge_guided = kMaxEdgeGuided + 1, c.aq = AdaptiveQuantisation::off;
  EXPECT_NE(error_of(ErrorCode::invalid_argument, [&] { validate(c); }).find("edge_guided"),
            std::string::npos);
}

TEST(Config, SceneCutsNeedGops) {
  Config c;
  c.width = c.height = 16, c.scene_cuts = true;
  for (const int gop : {0, 2}) {
    c.gop = gop;
    EXPECT_NO_THROW(validate(c)) << gop;
  }
  c.gop = 1;
  EXPECT_NE(error_of(ErrorCode::invalid_argument, [&] { validate(c); }).find("scenecut"), std::string::npos);
}

TEST(Config, GuidesAreChosenOnce) {
  Config good;
  good.width = 64, good.height = 64;
  using Change = void (*)(Config&);
  for (const Change change : std::initializer_list<Change>{
           [](Config& c) { c.set("aq", "edges"), c.set("aq-strength", "1"); },
           [](Config& c) { c.set("aq", "steps"), c.set("aq-strength", "3"); },
           [](Config& c) { c.set("aq", "edges"), c.set("edge-guided", "3"), c.edge_maps = true; },
           [](Config& c) { c.set("aq", "edges"), c.set("edge-thresholds", "0.1,0.2"); },
           [](Config& c) { c.set("edge-thresholds", "distributed"); }}) {
    Config c = good;
    change(c);
    EXPECT_NO_THROW(validate(c));
  }
  const std::pair<const char*, Change> refused[] = {
      {"both set the QP", [](Config& c) { c.edge_guided = 1, c.aq = AdaptiveQuantisation::steps; }},
      {"both say how strongly", [](Config& c) { c.edge_guided = 1, c.aq_strength = 1; }},
      {"aq_strength 4", [](Config& c) { c.aq = AdaptiveQuantisation::steps, c.aq_strength = 4; }},
      {"aq edges and aq steps", [](Config& c) { c.aq = AdaptiveQuantisation::variance, c.aq_strength = 1; }},
      {"aq edges and aq steps", [](Config& c) { c.aq_strength = 1; }},
      {"edge-thresholds", [](Config& c) { c.set("edge-thresholds", "frame"); }},
      {"edge-thresholds",
       [](Config& c) { c.aq = AdaptiveQuantisation::steps, c.set("edge-thresholds", "rows"); }},
      {"edge maps", [](Config& c) { c.edge_maps = true; }},
      {"edge maps", [](Config& c) { c.aq = AdaptiveQuantisation::steps, c.edge_maps = true; }},
      {"sigma", [](Config& c) { c.edge_guided = 1, c.edge_detector.sigma_tenths = 0; }},
      {"candidate", [](Config& c) { c.edge_guided = 1, c.edge_detector.candidates = {3}; }}};
  for (const auto& [cause, spoil] : refused) {
    Config c = good;
    spoil(c);
    const std::string what = error_of(ErrorCode::invalid_argument, [&] { validate(c); });
    EXPECT_NE(what.find(cause), std::string::npos) << what;
    EXPECT_NE(what.find('('), std::string::npos) << "no remedy: " << what;
  }
}

// Thresholds have names, which the stream's SEI message repeats.
TEST(Config, EdgeThresholds) {
  using cu264::canny::Partition;
  Config c;
  c.set("edge-thresholds", "rows-0.01");
  EXPECT_EQ(c.edge_detector.partition, Partition::rows);
  EXPECT_EQ(c.edge_detector.candidates, cu264::canny::candidates_001());
  c.set("edge-thresholds", "0.08,0.19");
  ASSERT_TRUE(c.edge_detector.fixed);
  EXPECT_EQ(c.edge_detector.fixed->low, 8);
  EXPECT_EQ(c.edge_detector.fixed->high, 19);
  for (const char* const name : {"distributed", "distributed-0.01", "rows", "rows-0.01", "frame",
                                 "frame-0.01", "0.08,0.19", "0.00,1.00"}) {
    c.set("edge-thresholds", name);
    EXPECT_EQ(cu264::encoder::edge_thresholds_text(c.edge_detector), name);
  }
  c.edge_detector.sigma_tenths = 9;
  EXPECT_EQ(cu264::encoder::edge_thresholds_text(c.edge_detector), "custom");
  for (const char* const wrong : {"", "Frame", "frame-0.03", "0.1", "0.1,", ",0.1", "0.2,0.1", "0,0",
                                  "0.1,1.01", "0.005,0.1", "-0.1,0.2", "nan,0.1", "0.1,0.2,0.3"}) {
    EXPECT_NE(
        error_of(ErrorCode::invalid_argument, [&] { c.set("edge-thresholds", wrong); }).find("distributed"),
        std::string::npos)
        << wrong;
  }
}

// What an automatic profile comes to, and what others do with what needs CAVLC.
TEST(Config, TheProfileThatIsCoded) {
  using cu264::Profile;
  Config c;
  c.width = c.height = 64;
  const auto expect = [&](Profile asked, Profile coded, bool cabac, const char* reason) {
    c.profile = asked;
    EXPECT_NO_THROW(validate(c));
    EXPECT_EQ(cu264::encoder::coded_profile(c), coded) << reason;
    EXPECT_EQ(cu264::encoder::uses_cabac(c), cabac) << reason;
    EXPECT_EQ(cu264::encoder::uses_transform_8x8(c), coded == Profile::high) << reason;
    EXPECT_EQ(cu264::encoder::profile_reason(c), reason);
  };
  const auto expect_refused = [&](Profile asked) {
    c.profile = asked;
    EXPECT_NE(error_of(ErrorCode::invalid_argument, [&] { validate(c); }).find("work on CAVLC"),
              std::string::npos);
  };
  expect(Profile::automatic, Profile::high, true, "nothing needs CAVLC");
  expect(Profile::baseline, Profile::baseline, false, "asked for");
  expect(Profile::main, Profile::main, true, "asked for");
  expect(Profile::high, Profile::high, true, "asked for");

  c.watermark = cu264::EncoderWatermark{cu264::ProtectionKey::random(), {1}};
  expect(Profile::automatic, Profile::high, false, "a watermark needs CAVLC");
  c.encryption = cu264::EncoderEncryption{cu264::ProtectionKey::random(), cu264::encryption_strength(1)};
  expect(Profile::automatic, Profile::high, false, "encryption needs CAVLC");
  expect(Profile::baseline, Profile::baseline, false, "asked for");
  expect_refused(Profile::main);
  expect_refused(Profile::high);

  c.cavlc = true;
  expect(Profile::automatic, Profile::high, false, "CAVLC was asked for");
  expect(Profile::main, Profile::main, false, "asked for");
  expect(Profile::high, Profile::high, false, "asked for");
}

TEST(Config, ValidateTakesTheExtremes) {
  Config c;
  c.width = 1, c.height = 1, c.qp = 0;
  EXPECT_NO_THROW(validate(c));
  c.width = 8192, c.height = 8192, c.qp = 51, c.slices = 512, c.threads = 1024;
  EXPECT_NO_THROW(validate(c));
}

}  // namespace
