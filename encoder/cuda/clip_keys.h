// The keys that encrypt and mark the pictures of a clip on the device. Each clip has its own.
#pragma once

#include <memory>

#include "common/cuda/handles.h"
#include "encoder/cuda/device_layout.h"
#include "encoder/cuda/encrypt.h"
#include "encoder/cuda/plan_marks.h"

namespace cu264::encoder::cuda {

class ClipKeys {
 public:
  ClipKeys() = default;
  ~ClipKeys();
  ClipKeys(const ClipKeys&) = delete;
  ClipKeys& operator=(const ClipKeys&) = delete;

  // Takes the keys of Protection::marks and Protection::cipher, if there are any. Waits until the payload of
  // a watermark has been uploaded.
  void set(const StreamParams& params, const DeviceMemory& d, const Stream& encode);

  const EncryptionPlan& encryption() const { return encryption_; }

  // Plans the marks of a batch once `uploaded` is done. It uses a stream of its own and runs alongside the
  // end of the previous batch, where the wavefront leaves room on the device. `encode` waits for it.
  void plan_marks(const DeviceMemory::Batch& d, int pictures, int macroblocks, const Event& uploaded,
                  const Stream& encode) const;

  // Waits for the device. Errors do not matter: a lost device does no work.
  void wait() const;

 private:
  MarkPlan marks_;
  EncryptionPlan encryption_;
  std::unique_ptr<Stream> plan_;    // null without marks
  std::unique_ptr<Event> planned_;  // null without marks
};

}  // namespace cu264::encoder::cuda
