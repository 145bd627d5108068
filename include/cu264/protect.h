// Selective encryption, watermarks and hidden data in finished H.264 streams, without encoding them again.
//
// The tools work on progressive all-intra streams, Baseline to High, 4:2:0 or monochrome, of any encoder.
// Encryption of signs works with CAVLC and CABAC, all else with CAVLC alone. They refuse anything else, and
// anything damaged, with Error(bad_input), which names what was found.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cu264/status.h"

namespace cu264 {

// A key of 256 secret bits. It never appears in a message, and is wiped from memory when it is destroyed.
class ProtectionKey {
 public:
  static constexpr std::size_t kBytes = 32;

  explicit ProtectionKey(std::span<const std::uint8_t, kBytes> bytes);
  ~ProtectionKey();
  ProtectionKey(const ProtectionKey&) = default;
  ProtectionKey& operator=(const ProtectionKey&) = default;

  // Reads 64 hexadecimal digits. Throws Error(invalid_argument), as the other functions do.
  static ProtectionKey from_hex(std::string_view hex);
  // Reads a file of 32 bytes, or of 64 hexadecimal digits and optionally a line end. A file of 32 hexadecimal
  // digits is refused, because that is half a key. Throws Error(bad_input) if the file cannot be read.
  static ProtectionKey from_file(const std::string& path);
  // Says whether users other than the owner may read or change the file; false where this cannot be found
  // out.
  static bool file_is_open_to_others(const std::string& path);
  // Reads the environment variable CU264_KEY, in hexadecimal digits.
  static ProtectionKey from_environment();
  // Makes a new key with libcrypto's random number generator.
  static ProtectionKey random();
  // Writes 64 hexadecimal digits into a new file that only its owner may read. Throws Error(bad_output) if a
  // file of that name exists or cannot be written.
  void write_new_file(const std::string& path) const;

  std::span<const std::uint8_t> bytes() const { return bytes_; }

 private:
  std::array<std::uint8_t, kBytes> bytes_;
};

// The syntax elements that are encrypted. No part changes the length of any code. Modes and codewords need
// CAVLC, suffixes need CABAC and a finished stream.
struct EncryptionParts {
  bool signs = true;       // signs of levels, where the sign has a bit of its own; with CABAC all have
  bool modes = false;      // intra prediction modes become others that the neighbours allow
  bool codewords = false;  // total_zeros and run_before: the places of the levels in their block
  bool suffixes = false;   // of levels of 16 and more, which then become others less than twice as large

  bool any() const { return signs || modes || codewords || suffixes; }
};

// Strength 1 encrypts signs, 2 signs and modes, 3 codewords too. Throws Error(invalid_argument).
EncryptionParts encryption_strength(int strength);

// Encryption inside the encoder (Config::encryption), under a random nonce: the stream is the one that
// make_encryptor would make of the plain stream with the same nonce. It has no authentication, which only the
// stream tool offers.
struct EncoderEncryption {
  ProtectionKey key;
  EncryptionParts parts;
};

struct EncryptionOptions {
  EncryptionParts parts;
  // Puts an HMAC-SHA256 beside each picture and after the last one, about 70 bytes each, which is checked
  // when decrypting. It covers the pictures, their number, order and parameter sets, and all units among them
  // but filler data, delimiters and parameter sets that are repeated. A stream in which more than filler data
  // stands between two slices of a picture is refused (docs/protection.md).
  bool authenticate = false;
};

struct DecryptionOptions {
  // Refuses streams that are not authenticated, and those of version 1 of the format, whose authentication
  // can be stripped or replayed. Without this option a stream itself says whether it is authenticated, and
  // whoever can change streams may replace an authenticated one by an unauthenticated one.
  bool require_authentication = false;
};

enum class WatermarkScheme {
  t1_sign,    // the sign of a block's first trailing one (Kim et al.)
  t1_parity,  // the parity of the number of a block's trailing ones (a variant of Liao et al.)
};

struct WatermarkOptions {
  WatermarkScheme scheme = WatermarkScheme::t1_sign;
  std::uint32_t density = 65536;  // how many of 65536 blocks that could carry a bit do: 1 to 65536
};

// Says how an encoder spreads the bits of a payload over the blocks that it marks.
enum class WatermarkSpread {
  coded,  // as an erasure code: 1.2 to 2 blocks that can carry a mark suffice for each bit
  drawn,  // each block carries a bit drawn at random: about nine such blocks are needed for each bit
};

// A watermark that the encoder embeds while it encodes (Config::watermark). It goes into the quantised levels
// before they are reconstructed, so nothing drifts. Its nonce is random. make_watermark_extractor reads it.
struct EncoderWatermark {
  ProtectionKey key;
  std::vector<std::uint8_t> payload;  // repeated all over the video
  WatermarkScheme scheme = WatermarkScheme::t1_sign;
  // The same as in WatermarkOptions. The default costs less than 1 dB and 2 %
  // (bench/results/watermark-cpu.md).
  std::uint32_t density = 4096;
  WatermarkSpread spread = WatermarkSpread::coded;
};

// Counts of what a tool has seen and done so far.
struct StreamCounts {
  std::uint64_t pictures = 0;
  std::uint64_t slice_bits = 0;      // bits of the slices, including headers, without emulation prevention
  std::uint64_t coefficients = 0;    // levels that are not zero
  std::uint64_t encrypted_bits = 0;  // bits that the keystream decides
  std::uint64_t carriers = 0;        // places that a watermark's or hidden data's bit was or could be put
  // Those of make_watermark_meter's carriers that make_watermark_embedder could use.
  std::uint64_t free_carriers = 0;
};

// Processes one elementary stream, access unit after access unit, in the stream's order. Only one thread at a
// time may use an object; any number of objects may work side by side. After an exception an object may only
// be destroyed.
class StreamTool {
 public:
  virtual ~StreamTool();

  // Sets how many threads work on the slices of one call of access_units(). The default is 1, and 0 means one
  // for each core. It never changes the bytes. To be called before any other function.
  virtual void set_threads(int threads) = 0;
  // Takes parameter sets that the container keeps outside the stream, as a byte stream (annex B).
  virtual void parameter_sets(std::span<const std::uint8_t> stream) = 0;
  // Takes one or more whole access units as a byte stream (annex B) and returns what replaces them. Tools
  // that only read return the input. A picture whose last slices are missing is held back, with everything
  // after the previous picture, and returned by the call that completes it; decryptors of authenticated
  // streams refuse it, and units that come in another call than the picture that they stand before.
  // Encryptors with authentication hold such units back until that picture comes.
  virtual std::vector<std::uint8_t> access_units(std::span<const std::uint8_t> stream) = 0;
  // To be called once after the last access unit, and before finish(). Returns the NAL units that follow it,
  // as a byte stream. There are none but for encryption with authentication.
  virtual std::vector<std::uint8_t> last_units() = 0;
  // To be called at the end. Tools that read a payload return it. Throws if the stream was not what the tool
  // is for, was cut off, or could not hold the payload.
  virtual std::vector<std::uint8_t> finish() = 0;

  virtual StreamCounts counts() const = 0;
};

// Each encryptor draws a random nonce, so the same input is encrypted to another output each time.
std::unique_ptr<StreamTool> make_encryptor(const ProtectionKey& key, const EncryptionOptions& options);
// Restores the bytes that were encrypted. Throws Error(bad_input) for a wrong key, a stream that is not
// encrypted, or a picture that fails authentication, of which nothing is decrypted then. Only when finish()
// has returned is an authenticated stream known to be the one that was encrypted: until then its end may be
// missing.
std::unique_ptr<StreamTool> make_decryptor(const ProtectionKey& key, const DecryptionOptions& options = {});

// Marks only blocks from which no other block is predicted, so that nothing drifts: outside of those blocks
// only the samples within the loop filter's reach change. The payload is repeated to fill the stream.
// finish() throws Error(bad_input) if the stream is too short for the payload; the message tells its
// capacity.
std::unique_ptr<StreamTool> make_watermark_embedder(const ProtectionKey& key, const WatermarkOptions& options,
                                                    std::span<const std::uint8_t> payload);
std::unique_ptr<StreamTool> make_watermark_extractor(const ProtectionKey& key);

// Counts the blocks of a stream that can carry a bit: StreamCounts::carriers are those that an encoder could
// mark, StreamCounts::free_carriers those that make_watermark_embedder could.
std::unique_ptr<StreamTool> make_watermark_meter(WatermarkScheme scheme);
// Return how many bytes of payload fit, from the counts of a meter: for make_watermark_embedder, and for an
// encoder that encodes such a video (about, because marks change the decisions of the encoder a little; the
// payload fits with a probability of 99 %).
std::uint64_t watermark_room(const StreamCounts& counts, std::uint32_t density);
std::uint64_t encoder_watermark_room(const StreamCounts& counts, std::uint32_t density,
                                     WatermarkSpread spread);

// Hides data in level suffixes by replacing codewords with others of the same length (Xu et al.), in
// encrypted streams or others. The data can be read before and after decryption. The levels that were changed
// stay changed.
std::unique_ptr<StreamTool> make_hider(const ProtectionKey& key, std::span<const std::uint8_t> payload);
std::unique_ptr<StreamTool> make_hidden_reader(const ProtectionKey& key);

// The keystream from which all of these tools draw their bits, for other uses: AES-256 in counter mode. The
// counter consists of nonce, picture, macroblock, use and block, so any 16 bytes can be computed without
// the others. The same block of the same picture may serve several uses.
enum class KeystreamUse : std::uint8_t { encryption = 0, watermark = 1, hidden_data = 2 };

// Selects blocks of 16 bytes: block after block of a macroblock, macroblock after macroblock, picture after
// picture.
struct KeystreamRange {
  std::uint64_t nonce = 0;
  KeystreamUse use = KeystreamUse::encryption;
  std::uint32_t first_picture = 0;
  std::uint32_t pictures = 1;
  std::uint32_t macroblocks = 1;  // in each picture, from its first one on: up to 2^24
  std::uint32_t blocks = 32;      // in each macroblock, from its first one on: 1 to 32

  // Returns 2^64 - 1 for a range that has more bytes than that, which is invalid.
  std::uint64_t bytes() const {
    std::uint64_t bytes = 16;
    for (const std::uint32_t factor : {blocks, macroblocks, pictures}) {
      if (factor != 0 && bytes > ~std::uint64_t{0} / factor) return ~std::uint64_t{0};
      bytes *= factor;
    }
    return bytes;
  }
};

// Fills `out`, which must have range.bytes() bytes. Throws Error(invalid_argument) if it has not, or if the
// range is invalid.
void make_keystream(const ProtectionKey& key, const KeystreamRange& range, std::span<std::uint8_t> out);
// Writes the same bytes to memory of the current CUDA device: range.bytes() of them from d_out on, which must
// be aligned to 16 bytes. `stream` is a cudaStream_t. It returns once the kernel is launched. Throws
// Error(device_unavailable) if the library was built without CUDA.
void make_keystream_on_device(const ProtectionKey& key, const KeystreamRange& range, void* d_out,
                              void* stream);

// Processes a whole byte stream (annex B) at once. Returns the output of access_units() and last_units(), and
// that of finish().
struct StreamResult {
  std::vector<std::uint8_t> stream;
  std::vector<std::uint8_t> payload;
};
StreamResult run_tool(StreamTool& tool, std::span<const std::uint8_t> stream);

}  // namespace cu264
