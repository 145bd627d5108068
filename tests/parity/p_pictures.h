// Coded pictures of P slices on which entropy coders are compared.
#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "cu264/encoder.h"
#include "tests/parity/coded_pictures.h"
#include "tests/support/moving_pictures.h"

namespace cu264::parity {

// A key picture and the P pictures after it, coded by the CPU backend.
std::vector<TestPicture> coded_clip(const Shape& shape, test::Motion motion, int count, int qp, Preset preset,
                                    bool cabac);

// What the macroblocks of an invented picture are drawn from.
struct PContent {
  int skips = 64;     // of 256 macroblocks that are not in a long run
  bool runs = false;  // long runs of P_Skip in addition
  // Only the first and the last of each 32 macroblocks are not skipped, and most of them have five bits with
  // CAVLC: those of P_L0_16x16 without levels.
  bool at_ends = false;
  int intra = 40;       // of 256 others
  int mvd = 40;         // the largest component of mvd_l0; most are small
  bool powers = false;  // all components of mvd_l0 are powers of two, whose codes end in zeros
  int density = 20;     // of 256 levels, as in invented_picture
  int largest = 9;      // level
  int pcm_in = 0;       // about one macroblock in so many is I_PCM; 0: none
};

TestPicture invented_p_picture(const Shape& shape, const PContent& content, std::mt19937& random);

// P pictures with a key picture among them.
std::vector<TestPicture> invented_gop(const Shape& shape, const PContent& content, int count,
                                      std::mt19937& random);

// Compares a coder on a batch. `what` says which.
using CheckBatch =
    std::function<void(const Shape& shape, std::vector<TestPicture> pictures, const std::string& what)>;

// Batches on which every coder is compared, with CU264_TEST_QUICK fewer and smaller ones. They end with the
// first fatal failure.
void on_coded_clips(bool cabac, const CheckBatch& check);
void on_invented_pictures(const std::vector<int>& mvds, std::mt19937& random, const CheckBatch& check);
void on_small_pictures(std::mt19937& random, const CheckBatch& check);

}  // namespace cu264::parity
