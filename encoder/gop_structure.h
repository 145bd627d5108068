// The GOPs of one stream: which pictures are key pictures, and the numbers that slice headers give them.
#pragma once

#include <cstdint>

#include "encoder/backend.h"
#include "encoder/scene_cuts.h"

namespace cu264::encoder {

class GopStructure {
 public:
  // Decides whether the stream's next picture begins a GOP: because it is asked to
  // (core::PictureParams::key), because the GOP before is complete, or because a scene begins. `scene`: of
  // the picture; zeros if nobody looks for scenes.
  void place(Job& job, const core::SceneSums& scene);

  // A picture is numbered before it is coded. It is kept or left out before the next one is numbered.
  // A key picture that was left out makes the next picture one.
  void number(Job& job);
  void keep(const Job& job);
  // `coded`: the backend had the picture, so that the next one takes its place there.
  void leave_out(const Job& job, bool coded);
  // Returns whether a picture was numbered and not yet kept or left out.
  bool is_open() const { return open_; }
  void open() { open_ = true; }

 private:
  static void make_key(Job& job);

  SceneCuts cuts_;
  std::uint64_t since_key_ = 0;  // pictures placed since the last key picture, which counts
  bool open_ = false;
  bool lost_key_ = false;   // a key picture was left out, and none came after it
  bool replaces_ = false;   // Job::replaces of the next picture
  std::uint64_t kept_ = 0;  // pictures since the last key picture, which counts
  std::uint64_t keys_ = 0;  // key pictures that were kept
};

}  // namespace cu264::encoder
