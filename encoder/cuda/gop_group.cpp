#include "encoder/cuda/gop_group.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <utility>

namespace cu264::encoder::cuda {
namespace {

class GopGroup final : public Backend {
 public:
  explicit GopGroup(std::vector<std::unique_ptr<Backend>> members) {
    for (std::unique_ptr<Backend>& backend : members) members_.push_back({std::move(backend), 0, {}});
  }

  int capacity() const override { return static_cast<int>(members_.size()) * members_[0].capacity(); }

  // A long GOP may have more pictures than its device takes. Those that are ready then wait here until those
  // of other devices before them have been collected.
  void submit(const Job& job) override {
    if (job.frame.frame.memory == MemoryKind::device && members_.size() > 1) {
      throw Error(ErrorCode::unsupported, "a frame in device memory can go to one device only",
                  "open the encoder with the one device that the frames are on");
    }
    const std::size_t chosen = member_for(job);
    Member& member = members_[chosen];
    if (member.pending == static_cast<std::size_t>(member.capacity())) {
      member.units.push_back(member.backend->collect());
      --member.pending;
    }
    member.backend->submit(job);
    ++member.pending;
    order_.push_back(chosen);
  }

  void flush() override {
    for (const Member& member : members_) member.backend->flush();
  }

  State poll() override {
    for (const Member& member : members_) {
      if (order_.empty() || &member != &members_[order_.front()]) member.backend->poll();
    }
    if (order_.empty()) return State::idle;
    const Member& member = members_[order_.front()];
    return member.units.empty() ? member.backend->poll() : State::ready;
  }

  void notify(std::shared_ptr<Notifier> notifier) override {
    for (const Member& member : members_) member.backend->notify(notifier);
  }

  CodedAccessUnit collect() override {
    Member& member = members_[order_.front()];
    order_.pop_front();
    if (member.units.empty()) {
      --member.pending;
      return member.backend->collect();
    }
    CodedAccessUnit unit = std::move(member.units.front());
    member.units.pop_front();
    return unit;
  }

  bool restart(const StreamParams& params, int batch) override {
    for (const Member& member : members_) {
      if (!member.backend->restart(params, batch)) return false;
    }
    member_of_.clear();
    next_ = 0;
    return true;
  }

 private:
  struct Member {
    std::unique_ptr<Backend> backend;
    std::size_t pending;                // pictures in the backend
    std::deque<CodedAccessUnit> units;  // that came out of it and were not collected

    int capacity() const { return backend->capacity(); }
  };

  // What takes the place of a picture goes where that is.
  std::size_t member_for(const Job& job) {
    const std::size_t stream = job.picture.stream;
    member_of_.resize(std::max(member_of_.size(), stream + 1));
    std::size_t& member = member_of_[stream];
    if (job.picture.key && !job.replaces) member = next_++ % members_.size();
    return member;
  }

  std::vector<Member> members_;
  std::deque<std::size_t> order_;       // the members of the pictures that were not collected
  std::vector<std::size_t> member_of_;  // [PictureParams::stream]: of its last picture
  std::size_t next_ = 0;                // counts GOPs
};

}  // namespace

std::unique_ptr<Backend> make_gop_group(std::vector<std::unique_ptr<Backend>> members) {
  return std::make_unique<GopGroup>(std::move(members));
}

}  // namespace cu264::encoder::cuda
