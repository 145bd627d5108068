// What all stream tools share: the walk over NAL units, parameter sets, pictures and slices. A tool changes
// the bits of a slice's RBSP, drops or adds messages, and leaves everything else as it was, byte for byte.
#pragma once

#include <cstdint>
#include <optional>

#include "cu264/protect.h"
#include "protect/keys.h"
#include "protect/parameter_sets.h"
#include "protect/rbsp.h"
#include "protect/sei.h"
#include "protect/slice_parser.h"

namespace cu264::protect {

// A slice on its way through a tool.
struct Slice {
  const NalUnit* nal = nullptr;
  std::uint32_t picture = 0;  // counted from the stream's, or its protection's, begin
  SliceHeader header;
  ParameterSets::Active sets;
  std::uint64_t data_begin = 0;  // slice_data()
  std::uint64_t stop = 0;        // rbsp_stop_one_bit
};

class NalTool : public StreamTool {
 public:
  void parameter_sets(std::span<const std::uint8_t> stream) override;
  std::vector<std::uint8_t> access_units(std::span<const std::uint8_t> stream) override;
  std::vector<std::uint8_t> finish() override;
  StreamCounts counts() const override;

 protected:
  // One of our messages; true: it is to be left out.
  virtual bool message(const Message& message) = 0;
  // Before the first slice of a picture; what is put before it, as whole NAL units.
  virtual Bytes begin_picture() { return {}; }
  // The slice's RBSP, padded, to be parsed with parse(). True: it was changed and is to be written.
  virtual bool slice(const Slice& slice, Bytes& rbsp) = 0;
  // The slice's NAL unit as it leaves.
  virtual void written(ByteSpan unit) { (void)unit; }
  // Behind the last slice of a picture; what is put before its first slice.
  virtual Bytes end_picture() { return {}; }
  virtual void add_counts(StreamCounts& counts) const = 0;
  // Once all is over.
  virtual Bytes end_stream() = 0;

  void parse(const Slice& slice, const Bytes& rbsp, MacroblockVisitor& visitor);
  std::uint32_t picture() const { return picture_; }
  // The address behind the last macroblock that was parsed.
  int next_address() const { return next_mb_; }
  // Pictures count from the protection's begin.
  void restart_pictures() { picture_ = 0; }

 private:
  void any_unit(const NalUnit& nal, Bytes& out);
  void slice_unit(const NalUnit& nal, Bytes& out);

  ParameterSets sets_;
  SliceParser parser_;
  Bytes rbsp_, check_;
  std::uint32_t picture_ = 0;
  std::uint32_t total_pictures_ = 0;
  std::uint64_t slice_bits_ = 0;
  bool in_picture_ = false;
  int next_mb_ = 0;                // of the picture that is under way
  std::size_t picture_begin_ = 0;  // where its first slice's prefix lies in the output
};

// The keys of the stream that `message` describes; throws Error(bad_input) for a wrong key.
std::unique_ptr<StreamKeys> checked_keys(const ProtectionKey& key, const Message& message);
// A message that begins a protection under a new nonce.
Message new_message(MessageKind kind, const StreamKeys& keys);

}  // namespace cu264::protect
