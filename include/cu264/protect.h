// Selective encryption, watermarks and hidden data in finished H.264 streams, without encoding them again.
//
// Works on progressive all-intra CAVLC streams, Baseline to High, 4:2:0 or monochrome, of any encoder.
// Anything else, and anything damaged, is refused with Error(bad_input) that names what was found.
// docs/protection.md says what these tools protect and what they do not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cu264/status.h"

namespace cu264 {

// 256 secret bits. Never part of any message, and wiped from memory when gone.
class ProtectionKey {
 public:
  static constexpr std::size_t kBytes = 32;

  explicit ProtectionKey(std::span<const std::uint8_t, kBytes> bytes);
  ~ProtectionKey();
  ProtectionKey(const ProtectionKey&) = default;
  ProtectionKey& operator=(const ProtectionKey&) = default;

  // 64 hexadecimal digits. Throws Error(invalid_argument), as the others do.
  static ProtectionKey from_hex(std::string_view hex);
  // A file of 32 bytes, or of 64 hexadecimal digits and perhaps a line end. 32 hexadecimal digits are
  // refused: they are half a key. Error(bad_input): it cannot be read.
  static ProtectionKey from_file(const std::string& path);
  // Whether users other than the owner may read or change the file; false where this cannot be told.
  static bool file_is_open_to_others(const std::string& path);
  // Of the environment variable CU264_KEY, in hexadecimal digits.
  static ProtectionKey from_environment();
  // A new one, from libcrypto's generator of random numbers.
  static ProtectionKey random();
  // Into a new file of 64 hexadecimal digits that its owner alone may read. Error(bad_output): there is a
  // file of that name already, or it cannot be written.
  void write_new_file(const std::string& path) const;

  std::span<const std::uint8_t> bytes() const { return bytes_; }

 private:
  std::array<std::uint8_t, kBytes> bytes_;
};

// What is encrypted. No part changes the length of any code.
struct EncryptionParts {
  bool signs = true;       // of the levels, wherever the sign has a bit of its own
  bool modes = false;      // intra prediction modes, to others that the neighbours allow
  bool codewords = false;  // total_zeros and run_before: the places of the levels in their block

  bool any() const { return signs || modes || codewords; }
};

// 1: signs; 2: signs and modes; 3: all. Throws Error(invalid_argument).
EncryptionParts encryption_strength(int strength);

// Encryption inside the encoder (Config::encryption), under a random nonce: the stream is the one that
// make_encryptor would make of the plain one with the same nonce. Without authentication, which is the stream
// tool's.
struct EncoderEncryption {
  ProtectionKey key;
  EncryptionParts parts;
};

struct EncryptionOptions {
  EncryptionParts parts;
  // An HMAC-SHA256 beside each picture and behind the last one, about 70 bytes, checked when decrypting: over
  // the pictures, their number, order and parameter sets, and the messages among them.
  bool authenticate = false;
};

struct DecryptionOptions {
  // Refuse streams that are not authenticated, and those of version 1 of the format, whose authentication can
  // be stripped or replayed. Without it a stream says itself whether it is authenticated, and whoever changes
  // streams may put an unauthenticated one in the place of an authenticated one.
  bool require_authentication = false;
};

enum class WatermarkScheme {
  t1_sign,    // the sign of a block's first trailing one (Kim et al.)
  t1_parity,  // whether the number of a block's trailing ones is odd (Liao et al.)
};

struct WatermarkOptions {
  WatermarkScheme scheme = WatermarkScheme::t1_sign;
  std::uint32_t density = 65536;  // of 65536 blocks that could carry a bit, how many do: 1 to 65536
};

// A watermark that the encoder puts in while it encodes (Config::watermark): into the quantised levels,
// before they are reconstructed, so that nothing drifts. make_watermark_extractor reads it.
struct EncoderWatermark {
  ProtectionKey key;
  std::vector<std::uint8_t> payload;  // repeated all over the video
  WatermarkScheme scheme = WatermarkScheme::t1_sign;
  // As WatermarkOptions has it. This many cost less than 1 dB and 2 % (bench/results/watermark-cpu.md).
  std::uint32_t density = 4096;
  std::optional<std::uint64_t> nonce = {};  // for tests. Nothing: a random one, as it must be
};

// What a tool has seen and done so far.
struct StreamCounts {
  std::uint64_t pictures = 0;
  std::uint64_t slice_bits = 0;      // of the slices, headers included, without emulation prevention
  std::uint64_t coefficients = 0;    // levels that are not zero
  std::uint64_t encrypted_bits = 0;  // that the keystream decides
  std::uint64_t carriers = 0;        // places that a watermark's or hidden data's bit was or could be put
};

// Works through one elementary stream, access unit after access unit, in the stream's order. Not for use by
// two threads at once; any number of objects may work side by side. After an exception only destruction is
// allowed.
class StreamTool {
 public:
  virtual ~StreamTool();

  // How many threads work on the slices of one call of access_units(): 1 unless told; 0: one a core. Never
  // changes the bytes. To be called before any other function.
  virtual void set_threads(int threads) = 0;
  // Parameter sets that the container keeps outside the stream, as a byte stream (annex B).
  virtual void parameter_sets(std::span<const std::uint8_t> stream) = 0;
  // One or more whole access units as a byte stream (annex B); returns what takes their place. Tools that
  // only read return the input. A picture whose last slices are missing is held, with what lies before it
  // behind the picture before, and returned by the call that completes it; decryptors of authenticated
  // streams refuse it.
  virtual std::vector<std::uint8_t> access_units(std::span<const std::uint8_t> stream) = 0;
  // To be called once behind the last access unit, and before finish(): the NAL units that are put behind it,
  // as a byte stream. None but for encryption with authentication.
  virtual std::vector<std::uint8_t> last_units() = 0;
  // To be called at the end. Of tools that read a payload: the payload. Throws when the stream was not what
  // the tool is for, was cut off, or could not hold the payload.
  virtual std::vector<std::uint8_t> finish() = 0;

  virtual StreamCounts counts() const = 0;
};

// A random nonce is drawn for each; the same input is encrypted to another output each time.
std::unique_ptr<StreamTool> make_encryptor(const ProtectionKey& key, const EncryptionOptions& options);
// Gives back the bytes that were encrypted. Error(bad_input): a wrong key, a stream that is not encrypted, or
// a picture that fails authentication, of which nothing is decrypted then. An authenticated stream is the one
// that was encrypted only when finish() has returned: until then its end may be missing.
std::unique_ptr<StreamTool> make_decryptor(const ProtectionKey& key, const DecryptionOptions& options = {});

// Marks only blocks from which no other block is predicted, so that nothing drifts: outside of those blocks
// only the loop filter's reach changes. The payload is repeated to fill the stream. Error(bad_input), from
// finish(): the stream is too short for the payload; the message tells its capacity.
std::unique_ptr<StreamTool> make_watermark_embedder(const ProtectionKey& key, const WatermarkOptions& options,
                                                    std::span<const std::uint8_t> payload);
std::unique_ptr<StreamTool> make_watermark_extractor(const ProtectionKey& key);

// Hides data in level suffixes by codewords of the same length (Xu et al.), in encrypted streams or others;
// it can be read before and after decryption. The levels it changes stay changed.
std::unique_ptr<StreamTool> make_hider(const ProtectionKey& key, std::span<const std::uint8_t> payload);
std::unique_ptr<StreamTool> make_hidden_reader(const ProtectionKey& key);

// The keystream that all of these draw their bits from, for other uses of it: AES-256 in counter mode with
// the counter made of nonce, picture, macroblock, use and block, so that each 16 bytes can be had without
// others.
enum class KeystreamUse : std::uint8_t { encryption, watermark, hidden_data };

// Blocks of 16 bytes: block after block of a macroblock, macroblock after macroblock, picture after picture.
struct KeystreamRange {
  std::uint64_t nonce = 0;
  KeystreamUse use = KeystreamUse::encryption;
  std::uint32_t first_picture = 0;
  std::uint32_t pictures = 1;
  std::uint32_t macroblocks = 1;  // of a picture, from its first on: up to 2^24
  std::uint32_t blocks = 32;      // of a macroblock, from its first on: 1 to 32

  // 2^64 - 1 for a range that has more bytes, and so is none.
  std::uint64_t bytes() const {
    std::uint64_t bytes = 16;
    for (const std::uint32_t factor : {blocks, macroblocks, pictures}) {
      if (factor != 0 && bytes > ~std::uint64_t{0} / factor) return ~std::uint64_t{0};
      bytes *= factor;
    }
    return bytes;
  }
};

// Fills `out`, which has range.bytes() bytes. Error(invalid_argument): it has not, or the range is none.
void make_keystream(const ProtectionKey& key, const KeystreamRange& range, std::span<std::uint8_t> out);
// The same bytes to memory of the current CUDA device, range.bytes() of them from d_out on, which must be
// aligned to 16 bytes. `stream` is a cudaStream_t; returns once the kernel is launched.
// Error(device_unavailable): built without CUDA.
void make_keystream_on_device(const ProtectionKey& key, const KeystreamRange& range, void* d_out,
                              void* stream);

// All of a byte stream (annex B) at once: what access_units() and last_units() return, and what finish()
// does.
struct StreamResult {
  std::vector<std::uint8_t> stream;
  std::vector<std::uint8_t> payload;
};
StreamResult run_tool(StreamTool& tool, std::span<const std::uint8_t> stream);

}  // namespace cu264
