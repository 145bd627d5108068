#include "encoder/gop_structure.h"

#include <algorithm>

#include "core/slice_header.h"
#include "cu264/encoder.h"

namespace cu264::encoder {

void GopStructure::make_key(Job& job) {
  job.picture.key = job.control.key = true;
  job.label.headers = job.key_headers;
  const PictureHeaders::Bytes& sets = job.key_headers.parameter_sets;
  job.control.overhead.parameter_sets = sets ? static_cast<std::int64_t>(sets->size()) : 0;
  // Rate control sets the QP anew. The pictures of the GOP are predicted from this one.
  if (!job.control.qp)
    job.picture.qp = static_cast<std::uint8_t>(std::max(job.control.settings.qp - kKeyPictureQpOffset, 0));
}

void GopStructure::place(Job& job, const core::SceneSums& scene) {
  const bool is_cut = cuts_.is_cut(scene);
  const bool is_complete = job.gop > 0 && since_key_ >= static_cast<std::uint64_t>(job.gop);
  if (job.picture.key || is_complete || is_cut) {
    make_key(job);
    since_key_ = 0;
  }
  ++since_key_;
}

void GopStructure::number(Job& job) {
  if (lost_key_ && !job.picture.key) make_key(job);
  const bool key = job.picture.key;
  job.picture.frame_num = key ? 0 : static_cast<std::uint8_t>(kept_ % (1 << core::kLog2MaxFrameNum));
  job.picture.idr_pic_id = static_cast<std::uint8_t>(keys_ % 2);
  job.replaces = replaces_;
}

void GopStructure::keep(const Job& job) {
  kept_ = job.picture.key ? 1 : kept_ + 1;
  if (job.picture.key) ++keys_;
  lost_key_ = replaces_ = open_ = false;
}

void GopStructure::leave_out(const Job& job, bool coded) {
  lost_key_ = lost_key_ || job.picture.key;
  replaces_ = replaces_ || coded;
  open_ = false;
}

}  // namespace cu264::encoder
