// The base of all stream tools: it walks over NAL units, parameter sets, pictures and slices. A tool changes
// the bits of a slice's RBSP, drops or adds messages, and leaves everything else as it was, byte for byte.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/bitstream/parameter_sets.h"
#include "cu264/protect.h"
#include "protect/cabac_slice.h"
#include "protect/keys.h"
#include "protect/message.h"
#include "protect/slice_parser.h"

namespace cu264::protect {

// A slice that a tool is working on.
struct Slice {
  const bitstream::NalUnit* nal = nullptr;
  std::uint32_t picture = 0;  // counted from the start of the stream, or of its protection
  bitstream::SliceHeader header;
  bitstream::ParameterSets::Active sets;
  std::uint64_t data_begin = 0;  // slice_data()
  std::uint64_t stop = 0;        // rbsp_stop_one_bit
};

// The work of a tool on one slice. An object serves many slices, one after another; several objects work on
// their slices in parallel.
class SliceJob {
 public:
  virtual ~SliceJob() = default;

  // Reads the slice and does everything that needs no other slice. It changes nothing but this object, and
  // reads only what stays the same while slices are under way.
  virtual void run() = 0;
  // Called in the slices' order. Returns true if the RBSP was changed and must be written.
  virtual bool finish() = 0;

  Slice slice;
  Bytes rbsp;  // padded

 protected:
  // Shows the macroblocks of a CAVLC slice to `visitor`.
  void parse(MacroblockVisitor& visitor);
  // Changes signs and suffixes of a CABAC slice in the RBSP.
  void change_levels(LevelFlips& flips);
  // The address that follows the slice's last macroblock.
  int next_address() const { return next_address_; }
  std::uint64_t coefficients() const { return coefficients_; }
  std::uint64_t suffix_bits() const { return suffix_bits_; }  // of a CABAC slice

 private:
  friend class NalTool;

  SliceParser parser_;
  Bytes check_, escaped_;
  int next_address_ = 0;
  std::uint64_t coefficients_ = 0, suffix_bits_ = 0;
  bool escaped_as_it_was_ = true;
  std::exception_ptr failure_;
  std::vector<const bitstream::NalUnit*> following_;  // units that follow the slice
};

class NalTool : public StreamTool {
 public:
  void set_threads(int threads) override;
  void parameter_sets(std::span<const std::uint8_t> stream) override;
  std::vector<std::uint8_t> access_units(std::span<const std::uint8_t> stream) override;
  std::vector<std::uint8_t> last_units() override { return {}; }
  std::vector<std::uint8_t> finish() override;
  StreamCounts counts() const override;

 protected:
  // Sees all units of a call before any of them is processed.
  virtual void inspect(const bitstream::NalUnits& part) { (void)part; }
  // Sees the parameter sets that the container keeps outside the stream.
  virtual void inspect_outside(const bitstream::NalUnits& sets) { (void)sets; }
  // Says whether each call returns whole access units, whatever it takes: units that come before a picture
  // wait for it. The tool then returns what still waits in last_units().
  virtual bool returns_whole_units() const { return false; }
  // Called once a picture parameter set of CABAC has come. Throws if the tool works on CAVLC alone.
  virtual void check_cabac() const;
  // Takes a message of these tools and returns whether it is to be left out. No slice is under way.
  virtual bool message(const Message& message) = 0;
  // Throws if the stream has not yet told what the slices need.
  virtual std::unique_ptr<SliceJob> make_job() = 0;
  // Called before the first slice of a picture; returns what is put before it, as whole NAL units.
  virtual Bytes begin_picture() { return {}; }
  // Called for each unit that leaves, in the stream's order: for a slice, whose NAL unit is slice.nal as it
  // came and `unit` as it leaves, and for any other unit.
  virtual void written(const Slice& slice, ByteSpan unit) { (void)slice, (void)unit; }
  virtual void written(const bitstream::NalUnit& nal) { (void)nal; }
  // Called after the last slice of a picture; returns what is put before its first slice, after
  // begin_picture()'s units.
  virtual Bytes end_picture() { return {}; }
  virtual void add_counts(StreamCounts& counts) const = 0;
  // Called at the end of the stream; returns the payload, if the tool reads one.
  virtual Bytes end_stream() { return {}; }

  std::uint32_t picture() const { return picture_; }
  std::uint64_t total_pictures() const { return total_pictures_; }
  // Takes what waits for the next picture.
  Bytes take_held() { return std::exchange(held_, {}); }
  // Counts pictures from the start of the protection, and makes the jobs anew.
  void restart_pictures();

 private:
  void read_sets(const bitstream::NalUnit& nal);
  void put(const bitstream::NalUnit& nal, Bytes& out);
  void hold(Bytes& out, std::size_t from);
  void any_unit(const bitstream::NalUnit& nal, Bytes& out);
  void slice_unit(const bitstream::NalUnit& nal, Bytes& out);
  void run_jobs();
  void finish_jobs(Bytes& out);
  void finish_job(SliceJob& job, Bytes& out);

  bitstream::ParameterSets sets_;
  int threads_ = 1;
  std::vector<std::unique_ptr<SliceJob>> jobs_;
  std::size_t waiting_ = 0;  // the number of jobs that have a slice
  std::uint32_t picture_ = 0;
  std::uint64_t total_pictures_ = 0;
  std::uint64_t slice_bits_ = 0, coefficients_ = 0;
  bool in_picture_ = false;
  int next_mb_ = 0;  // the next one of the picture that is under way
  // Positions in the output: the start of the picture's first slice, with its prefix, and the end of the
  // picture before.
  std::size_t picture_begin_ = 0, whole_end_ = 0;
  std::optional<std::size_t> next_begin_;  // of the first unit that belongs to the picture to come
  Bytes held_;          // output of earlier calls, while their last picture is unfinished or missing
  Bytes outside_sets_;  // what parameter_sets() received and no call has read yet
  // The number that the slices' headers tell; it is ahead of picture_ while slices wait.
  std::uint32_t next_picture_ = 0;
  bool picture_has_slices_ = false;
};

// Returns the number of the next picture. Throws Error(bad_input) after the last one that has a keystream of
// its own.
std::uint32_t next_picture_number(std::uint32_t picture);

}  // namespace cu264::protect
