// Several backends as one: of several devices, and several of each device where batches are too small to fill
// it. They take batches in turn, and access units are collected in the order of submission.
#include <algorithm>
#include <utility>

#include "encoder/cuda/batch_size.h"
#include "encoder/cuda/cuda_backend.h"
#include "encoder/cuda/gop_group.h"
#include "encoder/cuda/qp_offset_relay.h"

namespace cu264::encoder::cuda {
namespace {

class DeviceGroup final : public Backend {
 public:
  DeviceGroup(std::vector<std::unique_ptr<Backend>> members, int devices, int batch,
              std::shared_ptr<const QpOffsetRelay> relay)
      : members_(std::move(members)),
        relay_(std::move(relay)),
        devices_(devices),
        batch_(static_cast<std::uint64_t>(batch)) {}

  int capacity() const override { return static_cast<int>(members_.size()) * members_[0]->capacity(); }

  void submit(const Job& job) override {
    if (job.frame.frame.memory == MemoryKind::device && devices_ > 1) {
      throw Error(ErrorCode::unsupported, "a frame in device memory can go to one device only",
                  "open the encoder with the one device that the frames are on");
    }
    if (collected_ == submitted_ && flushed_) collected_ = submitted_ = 0;  // a batch was not full
    flushed_ = false;
    member(submitted_).submit(job);
    ++submitted_;
  }

  void flush() override {
    flushed_ = true;
    for (const auto& backend : members_) backend->flush();
  }

  State poll() override {
    const State state = member(collected_).poll();
    if (state == State::ready) return state;
    for (const auto& backend : members_) {
      if (backend.get() != &member(collected_)) backend->poll();
    }
    return state;
  }

  void notify(std::shared_ptr<Notifier> notifier) override {
    for (const auto& backend : members_) backend->notify(notifier);
  }

  CodedAccessUnit collect() override { return member(collected_++).collect(); }

  // If another number of members is needed, the next group takes them from the cache of memory.
  bool restart(const StreamParams& params, int batch) override {
    const int members = devices_ * overlapping_batches(params, batch);
    if (static_cast<std::size_t>(members) != members_.size()) return false;
    if (!relay_ && params.decisions.aq && params.decisions.aq->remembers) return false;
    if (relay_ && relay_->bytes() != relay_bytes(params)) return false;
    for (const auto& backend : members_) {
      if (!backend->restart(params, batch)) return false;
    }
    batch_ = static_cast<std::uint64_t>(batch);
    submitted_ = collected_ = 0;
    flushed_ = false;
    return true;
  }

 private:
  Backend& member(std::uint64_t picture) const {
    return *members_[static_cast<std::size_t>(picture / batch_ % members_.size())];
  }

  std::vector<std::unique_ptr<Backend>> members_;
  const std::shared_ptr<const QpOffsetRelay> relay_;  // null if QP offsets are not remembered
  const int devices_;
  std::uint64_t batch_;  // pictures of every batch of a clip except the last
  std::uint64_t submitted_ = 0;
  std::uint64_t collected_ = 0;
  bool flushed_ = false;
};

}  // namespace

std::unique_ptr<Backend> open_devices(const StreamParams& params, const std::vector<int>& devices,
                                      int batch) {
  const int rounds = overlapping_batches(params, batch);
  std::shared_ptr<QpOffsetRelay> relay;
  if (params.decisions.aq && params.decisions.aq->remembers) {
    const DeviceGuard guard(devices[0]);
    relay = std::make_shared<QpOffsetRelay>(relay_bytes(params));
  }
  std::vector<std::unique_ptr<Backend>> members;
  for (int round = 0; round < rounds; ++round) {
    try {
      for (const int device : devices) members.push_back(open_device(params, device, batch, relay));
    } catch (const Error& error) {
      // Memory for one backend of each device is enough.
      if (round == 0 || error.code() != ErrorCode::out_of_memory) throw;
      members.resize(static_cast<std::size_t>(round) * devices.size());
      break;
    }
  }
  if (params.format.inter && members.size() > 1) return make_gop_group(std::move(members));
  return std::make_unique<DeviceGroup>(std::move(members), static_cast<int>(devices.size()), batch, relay);
}

}  // namespace cu264::encoder::cuda
