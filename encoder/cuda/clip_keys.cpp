#include "encoder/cuda/clip_keys.h"

#include "encoder/stream_params.h"

namespace cu264::encoder::cuda {

ClipKeys::~ClipKeys() {
  protect::wipe(&marks_.key, sizeof marks_.key);
  protect::wipe(&encryption_.key, sizeof encryption_.key);
}

void ClipKeys::set(const StreamParams& params, const DeviceMemory& d, const Stream& encode) {
  if (params.protection.marks) {
    if (!plan_) plan_ = std::make_unique<Stream>();
    if (!planned_) planned_ = std::make_unique<Event>();
    const protect::MarkPlanner& marks = *params.protection.marks;
    marks_ = {protect::aes_expand_key(marks.keys().keystream_key().data()), marks.keys().nonce(),
              marks.density(), d.mark_frame, static_cast<std::uint32_t>(marks.frame().size())};
    check_cuda(cudaMemcpyAsync(d.mark_frame, marks.frame().data(), marks.frame().size(),
                               cudaMemcpyHostToDevice, encode.get()),
               "uploading the watermark");
    check_cuda(cudaStreamSynchronize(encode.get()), "uploading the watermark");
  }
  if (params.protection.cipher) {
    const protect::StreamKeys& keys = params.protection.cipher->keys();
    encryption_ = {protect::aes_expand_key(keys.keystream_key().data()), keys.nonce(),
                   params.protection.cipher->parts(), d.encrypted_macroblocks};
  }
}

void ClipKeys::plan_marks(const DeviceMemory::Batch& d, int pictures, int macroblocks, const Event& uploaded,
                          const Stream& encode) const {
  plan_->wait_for(uploaded.get());
  launch_plan_marks(marks_, d.params, pictures, macroblocks, d.marks, plan_->get());
  planned_->record(plan_->get());
  encode.wait_for(planned_->get());
}

void ClipKeys::wait() const {
  if (plan_) cudaStreamSynchronize(plan_->get());
}

}  // namespace cu264::encoder::cuda
