// Several devices as one backend. They take batches in turn, and access units are collected in the order of
// submission.
#include <utility>

#include "encoder/cuda/cuda_backend.h"
#include "encoder/cuda/qp_offset_relay.h"

namespace cu264::encoder::cuda {
namespace {

class DeviceGroup final : public Backend {
 public:
  DeviceGroup(std::vector<std::unique_ptr<Backend>> members, int batch)
      : members_(std::move(members)), batch_(static_cast<std::uint64_t>(batch)) {}

  int capacity() const override { return static_cast<int>(members_.size()) * members_[0]->capacity(); }

  void submit(const Frame& frame, const core::PictureParams& picture) override {
    if (frame.memory == MemoryKind::device) {
      throw Error(ErrorCode::unsupported, "a frame in device memory can go to one device only",
                  "open the encoder with the one device that the frames are on");
    }
    member(submitted_++).submit(frame, picture);
  }

  void flush() override {
    for (const auto& backend : members_) backend->flush();
  }

  bool ready() const override { return member(collected_).ready(); }

  CodedAccessUnit collect() override { return member(collected_++).collect(); }

 private:
  Backend& member(std::uint64_t picture) const {
    return *members_[static_cast<std::size_t>(picture / batch_ % members_.size())];
  }

  std::vector<std::unique_ptr<Backend>> members_;
  const std::uint64_t batch_;  // pictures of every batch except the last
  std::uint64_t submitted_ = 0;
  std::uint64_t collected_ = 0;
};

}  // namespace

std::unique_ptr<Backend> open_devices(const StageParams& params, const std::vector<int>& devices, int batch) {
  if (devices.size() == 1) return open_device(params, devices[0], batch);
  std::shared_ptr<QpOffsetRelay> relay;
  if (params.aq) {
    const DeviceGuard guard(devices[0]);
    relay = std::make_shared<QpOffsetRelay>(relay_bytes(params));
  }
  std::vector<std::unique_ptr<Backend>> members;
  members.reserve(devices.size());
  for (const int device : devices) members.push_back(open_device(params, device, batch, relay));
  return std::make_unique<DeviceGroup>(std::move(members), batch);
}

}  // namespace cu264::encoder::cuda
