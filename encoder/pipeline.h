// The path of every picture from its frame to its access unit. A picture is measured, planned by its stream's
// RateController and coded by the backend. If its size misses the target it is coded again. Its access unit
// is returned once its size is settled. A constant QP is the simplest case: nothing is measured, and every
// plan and every size is right. Pictures of a stream come back in the order in which they were submitted.
//
// There is no thread: every call does what can be done without waiting, and collect() waits. With rate
// control the backend is flushed only when nothing else can bring the oldest picture forward, and then
// collected to the end, as its contract asks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <vector>

#include "encoder/backend.h"
#include "encoder/rate_control/analyser.h"
#include "encoder/rate_control/paced_picture.h"

namespace cu264::encoder {

class Pipeline {
 public:
  // Makes the analyser of a pipeline that is opened or restarted with these parameters.
  using MakeAnalyser = std::unique_ptr<Analyser> (*)(const StreamParams& params,
                                                     const std::vector<int>& devices);

  // `batch`: how many pictures the backend takes together.
  Pipeline(std::unique_ptr<Backend> backend, MakeAnalyser make_analyser, const StreamParams& params,
           std::vector<int> devices, int batch);

  // The number of pictures that may be submitted before the oldest must be collected.
  int capacity() const { return capacity_; }
  // Takes a picture, whose frame is as for Backend::submit. An error of the picture comes with its access
  // unit; if the picture has failed already, the error is also returned. With a look-ahead the picture waits
  // until that many pictures of its stream have been submitted after it.
  std::exception_ptr submit(Job job);
  // The pictures of a stream that wait for later ones are coded without them. `ends_clip`: none will come.
  void release(std::uint32_t stream, bool ends_clip);
  // Says that no further picture will come soon.
  void flush();

  std::size_t ahead(std::uint32_t stream) const;  // pictures of the stream that wait for others
  // Pictures that wait for no others and were not collected, in the order in which they will be.
  std::size_t released() const { return pictures_.size(); }

  // Never waits.
  State poll();
  // Call this before sleeping until the notifier is signalled. Returns whether it will be signalled without
  // another call. Does the work that nothing would signal, for which it may wait for a measure.
  bool will_signal();
  void notify(std::shared_ptr<Notifier> notifier);
  // Waits for the oldest released picture. Throws an Error if the backend can no longer return any picture.
  CodedAccessUnit collect();
  // As Backend::restart. A change between constant and controlled QPs is not possible.
  bool restart(const StreamParams& params, int batch);

 private:
  void adopt(const StreamParams& params, int batch);
  PacedStream& stream_of(const core::PictureParams& params);
  GopStructure& gop_of(const core::PictureParams& params);
  void look_ahead(std::unique_ptr<PacedPicture> picture);
  void release_oldest(PacedStream& stream);

  bool stays_with_backend() const;
  bool front_is_settled() const { return settled_ > 0; }
  bool takes_results() const;
  void advance();
  bool can_plan() const;
  bool plan();
  bool submit_to_backend();
  void take_result();
  bool settle();
  bool stuck();
  void drain();
  void wait();

  const MakeAnalyser make_analyser_;
  const std::vector<int> devices_;
  StreamParams params_;
  std::unique_ptr<Analyser> analyser_;  // null unless analyses_pictures()
  std::size_t backend_limit_ = 1;       // pictures in the backend at once
  int capacity_ = 1;
  std::vector<std::unique_ptr<PacedStream>> streams_;   // [PictureParams::stream]
  std::vector<std::unique_ptr<GopStructure>> gops_;     // the same, where there are P pictures
  std::size_t ahead_ = 0;                               // pictures that wait for others, in all streams
  std::deque<std::unique_ptr<PacedPicture>> pictures_;  // those that do not, and were not collected
  std::size_t settled_ = 0;                             // how many of them, from the first on, are settled
  std::size_t planned_ = 0;                             // how many of them, from the first on, are planned
  // Pictures to be coded again, for which others wait, and then those that were planned.
  std::deque<PacedPicture*> to_code_;
  std::deque<PacedPicture*> in_backend_;
  std::shared_ptr<Notifier> notifier_;  // null until somebody waits
  bool waits_for_first_ = false;
  bool flushed_ = false;
  bool draining_ = false;  // the backend was flushed, and takes pictures when it is empty
  // Destroyed first, because it may still read frames.
  const std::unique_ptr<Backend> backend_;
};

}  // namespace cu264::encoder
