// Rate control in front of any backend. A picture is measured, planned by its stream's RateController, coded
// by the inner backend, and coded again there if its size misses what was asked for; its access unit is given
// back once its size is settled. Pictures of a stream come back in the order in which they were submitted.
//
// There is no thread: every call does what can be done without waiting, and collect() waits. The inner
// backend is flushed only when nothing else can bring the oldest picture forward, and then collected to the
// end, as its contract asks.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include "encoder/rate_control/analyser.h"
#include "encoder/rate_control/rate_controller.h"
#include "encoder/stages.h"

namespace cu264::encoder {

class ControlledBackend final : public Backend {
 public:
  // Makes an analyser for a backend that is opened or restarted with such parameters.
  using MakeAnalyser = std::unique_ptr<Analyser> (*)(const StageParams& params,
                                                     const std::vector<int>& devices);

  // `batch`: how many pictures the inner backend takes together.
  ControlledBackend(std::unique_ptr<Backend> inner, MakeAnalyser make_analyser, const StageParams& params,
                    std::vector<int> devices, int batch);
  ~ControlledBackend() override;

  int capacity() const override;
  // As Backend::submit; the picture's QP is planned. With a look-ahead it waits until as many pictures of its
  // stream were submitted behind it. Returns how many pictures of the stream wait no longer: collect() gives
  // pictures back in the order in which that happens.
  int submit(const Frame& frame, const core::PictureParams& picture, const PictureControl& control,
             Written written = nullptr);
  // The pictures of a stream that wait for others are coded without these. `ends_clip`: none will come.
  // Returns how many they are.
  int release(std::uint32_t stream, bool ends_clip);
  // The picture passes with the QP that it has.
  void submit(const Frame& frame, const core::PictureParams& picture, Written written = nullptr) override;
  void flush() override;
  bool ready() const override;
  bool working() override;
  void notify(std::shared_ptr<Notifier> notifier) override;
  CodedAccessUnit collect() override;
  bool restart(const StageParams& params, int batch) override;

 private:
  class Pipeline;
  std::unique_ptr<Pipeline> pipeline_;  // which ready() moves on, too
};

// How many pictures may be submitted before the oldest must be collected, in front of an inner backend of
// such a capacity. The analyser holds the frames of all of them until they are settled.
int controlled_capacity(int inner_capacity, int batch, const StageParams& params);

// The most pictures that an inner backend takes together. More would have to wait for each other for longer
// than kFeedbackDistance allows.
int controlled_batch(int batch, std::size_t devices);

}  // namespace cu264::encoder
