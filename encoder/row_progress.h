// Rows of macroblocks that several threads work on, each a little after the row above.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace cu264::encoder {

// Calls work(row) for rows [0, count), in any order and perhaps at the same time.
using ForRows = std::function<void(int count, const std::function<void(int row)>& work)>;

inline void one_row_after_another(int count, const std::function<void(int row)>& work) {
  for (int row = 0; row < count; ++row) work(row);
}

class RowProgress {
 public:
  RowProgress(int rows, int columns) : columns_(columns), done_(static_cast<std::size_t>(rows)) {}

  int rows() const { return static_cast<int>(done_.size()); }
  // Rows are taken in order, so the row above is always in somebody's hands, and waiting for it ends.
  int take_row() { return next_++; }
  // Waits until so many macroblocks of the row above are done, or all.
  // It and set_done are inlined into code for newer instruction sets (core/hd.h).
  [[gnu::always_inline]] void wait_above(int row, int columns) const {
    if (row == 0) return;
    const std::atomic<int>& above = done_[static_cast<std::size_t>(row - 1)].columns;
    while (above.load(std::memory_order_acquire) < std::min(columns, columns_)) std::this_thread::yield();
  }
  [[gnu::always_inline]] void set_done(int row, int columns) {
    done_[static_cast<std::size_t>(row)].columns.store(columns, std::memory_order_release);
  }

 private:
  struct alignas(64) Row {  // a cache line, since two threads use neighbours
    std::atomic<int> columns = 0;
  };

  const int columns_;
  std::vector<Row> done_;
  std::atomic<int> next_ = 0;
};

// Calls work(row, progress) for all rows of macroblocks; it must tell the progress.
template <class Work>
void for_rows_in_order(const ForRows& for_rows, int rows, int columns, const Work& work) {
  RowProgress progress(rows, columns);
  for_rows(rows, [&](int) {
    const int row = progress.take_row();
    try {
      work(row, progress);
    } catch (...) {
      progress.set_done(row, columns);  // nobody shall wait for it
      throw;
    }
  });
}

}  // namespace cu264::encoder
