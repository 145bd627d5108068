// Streams that must change only on purpose. The hash is that of the whole stream without its SEI message,
// which holds the version.
//
// With CU264_UPDATE_GOLDENS=1 in the environment the table is rewritten instead (scripts/update-goldens).
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "support/decode.h"
#include "support/encode.h"
#include "tests/golden/golden_table.h"
#include "tests/support/moving_pictures.h"
#include "tests/support/nal_units.h"
#include "tests/support/sha256.h"

namespace cu264::test {
namespace {

struct Golden {
  std::string clip;  // a name_of(Content), that of a Motion after "moving_", or the name of a real clip
  int width = 0;     // 0 for a real clip
  int height = 0;
  int pictures = 2;
  int qp = 27;
  const char* preset = "balanced";
  int slices = 1;
  bool deblock = true;
  const char* options = "";  // "edge-guided=2", "aq=steps aq-strength=1", "profile=high cavlc=on"

  std::string name() const {
    std::ostringstream out;
    out << clip;
    if (width != 0) out << '_' << width << 'x' << height;
    out << '_' << pictures << "f_qp" << qp << '_' << preset << "_s" << slices
        << (deblock ? "" : "_nodeblock");
    if (*options != '\0') out << '_';
    for (const char* c = options; *c != '\0'; ++c) {
      out << (std::isalnum(static_cast<unsigned char>(*c)) ? *c : '_');
    }
    return out.str();
  }
};

void PrintTo(const Golden& golden, std::ostream* out) {
  *out << golden.name();
}

std::string moving(Motion motion) {
  return std::string("moving_") + name_of(motion);
}

std::vector<Golden> goldens() {
  std::vector<Golden> all;
  for (const char* preset : {"fast", "balanced", "best"}) {
    for (const int qp : {0, 12, 27, 38, 51}) all.push_back({"natural", 176, 144, 2, qp, preset});
    for (const Content content : kContents) all.push_back({name_of(content), 64, 48, 1, 20, preset});
    for (const int slices : {2, 3, 9}) all.push_back({"natural", 176, 144, 2, 30, preset, slices});
    all.push_back({"natural", 176, 144, 2, 33, preset, 1, false});
    all.push_back({"natural", 1, 1, 3, 27, preset});
    all.push_back({"natural", 37, 51, 3, 24, preset, 2});
    all.push_back({"text", 320, 180, 1, 27, preset});
    all.push_back({"noise", 80, 80, 2, 0, preset});
    all.push_back({"opposites", 96, 96, 2, 1, preset});
    for (const char* option : {"aq=steps aq-strength=1", "aq=steps aq-strength=3", "aq=variance",
                               "edge-guided=1", "edge-guided=3"}) {
      for (const int qp : {0, 27, 51}) all.push_back({"natural", 176, 144, 3, qp, preset, 2, true, option});
      all.push_back({"text", 320, 180, 1, 27, preset, 1, true, option});
      all.push_back({"noise", 80, 80, 2, 2, preset, 1, true, option});
      all.push_back({"foreman_akiyo_qcif_21f", 0, 0, 3, 27, preset, 1, true, option});
    }
    all.push_back({"natural", 37, 51, 3, 24, preset, 2, true, "edge-guided=2 edge-thresholds=frame-0.01"});
    all.push_back({"text", 320, 180, 1, 27, preset, 1, true, "aq=edges edge-thresholds=0.08,0.19"});
    for (const int qp : {0, 12, 27, 38, 51})
      all.push_back({"natural", 176, 144, 2, qp, preset, 1, true, "profile=main"});
    for (const Content content : kContents)
      all.push_back({name_of(content), 64, 48, 1, 20, preset, 1, true, "profile=main"});
    all.push_back({"natural", 37, 51, 3, 24, preset, 2, false, "profile=main"});
    all.push_back({"text", 320, 180, 1, 27, preset, 9, true, "profile=main"});
    all.push_back({"noise", 80, 80, 2, 0, preset, 1, true, "profile=main"});
    all.push_back({"foreman_akiyo_qcif_21f", 0, 0, 3, 27, preset, 1, true, "profile=main"});
    for (const char* options : {"profile=high", "profile=high cavlc=on"}) {
      for (const int qp : {0, 9, 27, 38, 51})
        all.push_back({"natural", 176, 144, 2, qp, preset, 1, true, options});
      all.push_back({"natural", 37, 51, 3, 24, preset, 2, false, options});
      all.push_back({"text", 320, 180, 1, 27, preset, 9, true, options});
      all.push_back({"noise", 80, 80, 2, 0, preset, 1, true, options});
      all.push_back({"foreman_akiyo_qcif_21f", 0, 0, 3, 27, preset, 1, true, options});
    }
    for (const Motion motion : kMotions) {
      all.push_back({moving(motion), 80, 66, 5, 26, preset, 2, true, "gop=4 profile=high"});
      all.push_back({moving(motion), 52, 34, 4, 33, preset, 1, true, "gop=0 profile=main"});
    }
    for (const char* options :
         {"gop=3 profile=baseline", "gop=3 profile=high cavlc=on", "gop=3 profile=high aq=variance"}) {
      for (const int qp : {0, 12, 22, 38, 51})
        all.push_back({"moving_noisy", 96, 80, 4, qp, preset, 1, qp != 12, options});
      all.push_back({"foreman_akiyo_qcif_21f", 0, 0, 5, 27, preset, 1, true, options});
    }
    for (const int qp : {22, 32}) {
      all.push_back({"foreman_akiyo_qcif_21f", 0, 0, 3, qp, preset});
      all.push_back({"park_joy_480x270_10f", 0, 0, 1, qp, preset, 2});
    }
  }
  return all;
}

// Returns nothing if the clip is not on this machine.
std::vector<Picture> pictures_of(const Golden& golden) {
  std::vector<Picture> pictures;
  if (golden.width == 0) {
    const char* const data = std::getenv("CU264_TEST_DATA");
    const std::string path = std::string(data ? data : "") + "/video/" + golden.clip + ".mkv";
    if (data && *data && std::filesystem::exists(path)) pictures = load_clip(path, golden.pictures);
    return pictures;
  }
  for (const Motion motion : kMotions) {
    if (moving(motion) == golden.clip) return make_clip(motion, golden.width, golden.height, golden.pictures);
  }
  for (const Content content : kContents) {
    if (name_of(content) != golden.clip) continue;
    for (int i = 0; i < golden.pictures; ++i) {
      pictures.push_back(
          make_picture(content, golden.width, golden.height, static_cast<std::uint32_t>(i + 1)));
    }
  }
  return pictures;
}

std::vector<std::uint8_t> without_sei(const std::vector<std::uint8_t>& bytes) {
  std::vector<std::uint8_t> kept;
  for (const NalUnit& nal : split_annexb(bytes)) {
    if (nal.nal_unit_type == kNalSei) continue;
    kept.insert(kept.end(), bytes.begin() + static_cast<std::ptrdiff_t>(nal.begin),
                bytes.begin() + static_cast<std::ptrdiff_t>(nal.end));
  }
  return kept;
}

bool updating() {
  return std::getenv("CU264_UPDATE_GOLDENS") != nullptr;
}

// The table, which is read once and, with updating(), written back at the end of the program.
class Table : public testing::Environment {
 public:
  void SetUp() override {
    if (!updating() || std::filesystem::exists(CU264_GOLDEN_TABLE))
      old_ = read_golden_table(CU264_GOLDEN_TABLE);
  }
  void TearDown() override {
    if (!updating()) return;
    // Lines of clips that are not on this machine are kept; lines that no test asks for are removed.
    for (const Golden& golden : goldens()) {
      const auto line = old_.find(golden.name());
      if (line != old_.end()) new_.insert(*line);
    }
    write_golden_table(CU264_GOLDEN_TABLE, new_);
  }

  GoldenTable old_;
  GoldenTable new_;
};

Table* const table = static_cast<Table*>(testing::AddGlobalTestEnvironment(new Table));

class GoldenStream : public testing::TestWithParam<Golden> {};

TEST_P(GoldenStream, HasNotChanged) {
  const Golden& golden = GetParam();
  const std::vector<Picture> pictures = pictures_of(golden);
  if (pictures.empty()) GTEST_SKIP() << golden.clip << " is not in the folder that CU264_TEST_DATA names";
  Config config = baseline_config();  // unless golden.options has another profile
  config.qp = golden.qp, config.slices = golden.slices, config.deblock = golden.deblock;
  config.set("preset", golden.preset);
  std::istringstream options(golden.options);
  for (std::string option; options >> option;)
    config.set(option.substr(0, option.find('=')), option.substr(option.find('=') + 1));
  const std::string hash = sha256(without_sei(encode(config, pictures).bytes()));
  if (updating()) {
    table->new_[golden.name()] = hash;
    return;
  }
  const auto line = table->old_.find(golden.name());
  EXPECT_EQ(line == table->old_.end() ? "missing" : line->second, hash)
      << "if the stream was meant to change, run scripts/update-goldens and say why in the commit; the new "
         "line is\n"
      << hash << ' ' << golden.name();
}

INSTANTIATE_TEST_SUITE_P(Golden, GoldenStream, testing::ValuesIn(goldens()),
                         [](const testing::TestParamInfo<Golden>& golden) { return golden.param.name(); });

TEST(GoldenTable, HoldsOneLineAStreamAndNoOther) {
  if (updating()) GTEST_SKIP() << "being rewritten";
  std::map<std::string, int> wanted;
  for (const Golden& golden : goldens()) {
    EXPECT_EQ(++wanted[golden.name()], 1) << golden.name() << " is tested twice";
    EXPECT_TRUE(table->old_.contains(golden.name())) << golden.name() << " has no line";
  }
  for (const auto& [name, hash] : table->old_) EXPECT_TRUE(wanted.contains(name)) << name << " is not tested";
}

}  // namespace
}  // namespace cu264::test
