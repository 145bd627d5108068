// Threads that share the rows of a picture leave what one thread leaves.
#include "encoder/row_progress.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "encoder/cpu/ingest.h"
#include "encoder/cpu/p_picture.h"
#include "encoder/cpu/reconstruct_slice.h"
#include "encoder/output_picture.h"
#include "tests/support/moving_pictures.h"

namespace cu264::encoder {
namespace {

void rows_on_four_threads(int count, const std::function<void(int row)>& work) {
  std::atomic<int> next = 0;
  const auto take_rows = [&] {
    for (int row = next++; row < count; row = next++) work(row);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(take_rows);
  for (std::thread& thread : threads) thread.join();
}

struct Coding {
  Preset preset;
  int qp, slices;
  bool cabac, transform_8x8_mode;
};

// A key picture, then P pictures, whatever the threads.
std::vector<CpuPicture> code(const std::vector<test::Picture>& clip, const Coding& coding,
                             const ForRows& for_rows) {
  std::vector<CpuPicture> coded;
  GopChain chain;
  CpuPicture picture;
  picture.resize((clip[0].width + 15) / 16, (clip[0].height + 15) / 16, coding.slices);
  picture.cabac = coding.cabac, picture.transform_8x8_mode = coding.transform_8x8_mode;
  picture.motion.resize(picture.macroblocks.size());
  chain.resize(picture.mb_width, picture.mb_height);
  const PPicture view{picture, chain, coding.qp, coding.preset};
  for (const test::Picture& from : clip) {
    Frame frame;
    frame.width = from.width, frame.height = from.height;
    for (int c = 0; c < 3; ++c) frame.plane[c] = from.plane(c), frame.pitch[c] = from.plane_width(c);
    ingest(frame, picture);
    picture.inter = !coded.empty();
    begin_picture(view, false, for_rows);
    if (picture.inter) {
      reconstruct_p_picture(view, for_rows);
    } else {
      reconstruct_i_picture(picture, coding.qp, coding.preset, for_rows);
    }
    filter_picture(picture, for_rows);
    keep_picture(view);
    coded.push_back(picture);
  }
  return coded;
}

TEST(RowProgress, ThreadsCodeWhatOneCodes) {
  constexpr Coding kCodings[] = {{Preset::fast, 27, 1, true, true},
                                 {Preset::balanced, 20, 3, true, false},
                                 {Preset::best, 34, 1, false, true}};
  for (const test::Motion motion : {test::Motion::noisy, test::Motion::objects, test::Motion::cut}) {
    const std::vector<test::Picture> clip = test::make_clip(motion, 150, 110, 4);
    for (const Coding& coding : kCodings) {
      const std::vector<CpuPicture> one = code(clip, coding, one_row_after_another);
      const std::vector<CpuPicture> four = code(clip, coding, rows_on_four_threads);
      for (std::size_t i = 0; i < one.size(); ++i) {
        SCOPED_TRACE(std::string(name_of(motion)) + ", picture " + std::to_string(i));
        EXPECT_EQ(one[i].levels == four[i].levels, true);
        EXPECT_EQ(one[i].total_coeff == four[i].total_coeff, true);
        for (int c = 0; c < 3; ++c)
          EXPECT_EQ(one[i].reconstruction[c].samples == four[i].reconstruction[c].samples, true) << c;
        EXPECT_EQ(std::memcmp(one[i].macroblocks.data(), four[i].macroblocks.data(),
                              one[i].macroblocks.size() * sizeof(core::MacroblockRecord)),
                  0);
        EXPECT_EQ(std::memcmp(one[i].motion.data(), four[i].motion.data(),
                              one[i].motion.size() * sizeof(core::MotionRecord)),
                  0);
      }
    }
  }
}

// A row that fails leaves nobody waiting for it.
TEST(RowProgress, ARowThatFailsIsNotWaitedFor) {
  std::atomic<int> failed = 0;
  for_rows_in_order(rows_on_four_threads, 20, 8, [&](int row, RowProgress& progress) {
    progress.wait_above(row, 8);
    progress.set_done(row, 8);
  });
  const ForRows caught = [&](int count, const std::function<void(int row)>& work) {
    rows_on_four_threads(count, [&](int row) {
      try {
        work(row);
      } catch (const std::runtime_error&) {
        ++failed;
      }
    });
  };
  for_rows_in_order(caught, 20, 8, [](int row, RowProgress& progress) {
    progress.wait_above(row, 8);
    if (row == 3) throw std::runtime_error("row 3");
    progress.set_done(row, 8);
  });
  EXPECT_EQ(failed, 1);
}

}  // namespace
}  // namespace cu264::encoder
