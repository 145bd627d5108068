// An output file is complete or absent.
#include "io/output_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

std::atomic<int> umask_calls{0};

}  // namespace

// Replaces the C library's function, so that calls are seen: another thread that creates a file meanwhile
// would do so with the changed mask.
extern "C" mode_t umask(mode_t mask) noexcept {
  ++umask_calls;
  return static_cast<mode_t>(syscall(SYS_umask, mask));
}

namespace cu264::io {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "cu264-output-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const char* name) const { return (folder_ / name).string(); }
  long files() const { return std::distance(fs::directory_iterator(folder_), fs::directory_iterator()); }
  static std::string content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void put(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  fs::path folder_;
};

TEST_F(OutputFileTest, AppearsWithCommit) {
  OutputFile file(path("out"));
  file.write("abc", 3);
  EXPECT_FALSE(fs::exists(path("out")));
  file.close();
  EXPECT_EQ(content(file.readable_path()), "abc");
  file.commit();
  EXPECT_EQ(content(path("out")), "abc");
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFileTest, LeavesTheProcessMaskAlone) {
  const int before = umask_calls;
  OutputFile(path("new")).commit();
  EXPECT_EQ(umask_calls, before);
  struct stat status {};
  ASSERT_EQ(stat(path("new").c_str(), &status), 0);
  const mode_t mask = umask(022);
  umask(mask);
  EXPECT_EQ(status.st_mode & 07777, 0666 & ~mask);
  EXPECT_EQ(umask_calls, before + 2) << "this test does not see the calls";
}

TEST_F(OutputFileTest, ReplacesWithoutSetIdBits) {
  put(path("out"), "old");
  ASSERT_EQ(chmod(path("out").c_str(), 06751), 0);
  OutputFile(path("out")).commit();
  struct stat status {};
  ASSERT_EQ(stat(path("out").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0751u);
}

TEST_F(OutputFileTest, IsRemovedWithoutCommit) {
  {
    OutputFile file(path("out"));
    file.write("abc", 3);
  }
  EXPECT_EQ(files(), 0);
}

TEST_F(OutputFileTest, KeepsTheOldFileUntilCommit) {
  put(path("out"), "old");
  ASSERT_EQ(chmod(path("out").c_str(), 0640), 0);
  {
    OutputFile file(path("out"));
    file.write("new", 3);
  }
  EXPECT_EQ(content(path("out")), "old");
  OutputFile file(path("out"));
  file.write("new", 3);
  file.commit();
  EXPECT_EQ(content(path("out")), "new");
  struct stat status {};
  ASSERT_EQ(stat(path("out").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST_F(OutputFileTest, FollowsLinks) {
  put(path("target"), "old");
  fs::create_symlink(path("target"), path("link"));
  OutputFile file(path("link"));
  file.write("new", 3);
  file.commit();
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(content(path("target")), "new");
}

TEST_F(OutputFileTest, WritesThroughLinksToFilesThatAreNotThereYet) {
  fs::create_symlink("second", path("first"));  // relative to the link's folder
  fs::create_symlink(path("folder/new"), path("second"));
  fs::create_directory(path("folder"));
  OutputFile file(path("first"));
  file.write("new", 3);
  file.commit();
  EXPECT_TRUE(fs::is_symlink(path("first")));
  EXPECT_TRUE(fs::is_symlink(path("second")));
  EXPECT_EQ(content(path("folder/new")), "new");
}

TEST_F(OutputFileTest, RefusesLinksThatLeadNowhere) {
  fs::create_symlink("loop", path("loop"));
  EXPECT_THROW(OutputFile{path("loop")}, Error);
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFileTest, RefusesWriteProtectedFiles) {
  put(path("out"), "old");
  ASSERT_EQ(chmod(path("out").c_str(), 0444), 0);
  fs::create_symlink("out", path("link"));
  EXPECT_THROW(OutputFile{path("out")}, Error);
  EXPECT_THROW(OutputFile{path("link")}, Error);
  EXPECT_EQ(content(path("out")), "old");
}

TEST_F(OutputFileTest, TakesNamesOfAnyLengthThatTheSystemTakes) {
  // 255 bytes is the most; "\xc3\xa9" is one character of two bytes, which must not be cut in half.
  std::string accents;
  for (int i = 0; i < 127; ++i) accents += "\xc3\xa9";
  for (const std::string& name : {std::string(255, 'n'), accents}) {
    OutputFile file(path(name.c_str()));
    const std::string hidden = fs::path(file.readable_path()).filename();
    EXPECT_NE(static_cast<unsigned char>(hidden[hidden.size() - 14]), 0xc3) << "half a character";
    file.write("new", 3);
    file.commit();
    EXPECT_EQ(content(path(name.c_str())), "new");
  }
  EXPECT_THROW(OutputFile{path(std::string(256, 'n').c_str())}.commit(), Error);
}

TEST_F(OutputFileTest, FullDeviceIsAnError) {
  OutputFile file("/dev/full");
  EXPECT_FALSE(file.regular());
  try {
    file.write("abc", 3);
    FAIL() << "/dev/full took three bytes";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_output);
    EXPECT_NE(std::string(error.what()).find("No space"), std::string::npos) << error.what();
  }
}

TEST_F(OutputFileTest, RefusesFoldersAndMissingFolders) {
  EXPECT_THROW(OutputFile{folder_.string()}, Error);
  EXPECT_THROW(OutputFile{path("nowhere/out")}, Error);
  EXPECT_EQ(files(), 0);
}

TEST_F(OutputFileTest, TemporariesCanBeRemovedAllAtOnce) {
  OutputFile first(path("first")), second(path("second"));
  OutputFile committed(path("committed"));
  committed.commit();
  EXPECT_EQ(files(), 3);
  OutputFile::remove_temporaries();
  EXPECT_EQ(files(), 1);
  EXPECT_TRUE(fs::exists(path("committed")));
}

TEST_F(OutputFileTest, SameFile) {
  put(path("a"), "a");
  put(path("b"), "b");
  fs::create_symlink(path("a"), path("link"));
  fs::create_hard_link(path("a"), path("twin"));
  EXPECT_TRUE(same_file(path("a"), path("link")));
  EXPECT_TRUE(same_file(path("a"), path("twin")));
  EXPECT_FALSE(same_file(path("a"), path("b")));
  EXPECT_FALSE(same_file(path("a"), path("new")));
  EXPECT_TRUE(same_file(path("new"), path("./new")));
  EXPECT_FALSE(same_file("/dev/null", "/dev/null"));
}

// In a folder such as /tmp another user can put a link where a file is going to be written.
TEST_F(OutputFileTest, PlantedLinksAreNotFollowed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make what belongs to another user";
  constexpr uid_t kOther = 12345;
  const fs::path shared = folder_ / "shared";
  fs::create_directory(shared);
  fs::create_directory(folder_ / "home");
  ASSERT_EQ(chmod(shared.c_str(), 01777), 0);
  const auto plant = [&](const char* name, const std::string& target, uid_t owner) {
    const std::string link = (shared / name).string();
    fs::create_symlink(target, link);
    EXPECT_EQ(lchown(link.c_str(), owner, owner), 0);
    return link;
  };
  const std::string fresh = path("home/fresh"), old = path("home/old");
  put(old, "old");
  const std::string folder = plant("folder", path("home"), kOther);
  for (const std::string& name : {plant("new", fresh, kOther), plant("old", old, kOther), folder + "/fresh",
                                  plant("mine", (shared / "new").string(), 0)}) {
    EXPECT_THROW(OutputFile{name}, Error) << name;
    EXPECT_FALSE(fs::exists(fresh));
    EXPECT_EQ(content(old), "old");
  }
  // One's own links, and those in folders of one's own, are written through.
  fs::create_symlink(fresh, path("link"));
  ASSERT_EQ(lchown(path("link").c_str(), kOther, kOther), 0);
  for (const std::string& name : {plant("own", fresh, 0), path("link")}) {
    OutputFile file(name);
    file.write("abc", 3);
    file.commit();
    EXPECT_EQ(content(fresh), "abc");
    fs::remove(fresh);
  }
}

}  // namespace
}  // namespace cu264::io
