// Runs random cases on a backend, and says where two runs differ.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cu264/packet.h"
#include "tests/parity/random_case.h"

namespace cu264::parity {

struct CodedClip {
  std::vector<std::uint8_t> headers;
  std::vector<Packet> packets;
  std::uint64_t dropped = 0;
};

struct CodedCase {
  std::vector<CodedClip> clips;
  std::string error;  // what() of what was thrown; the clips are not complete then
};

CodedCase code(const RandomCase& random_case, BackendChoice backend);

// Codes the streams of a group from as many threads as it says.
std::vector<CodedCase> code(const RandomGroup& group, BackendChoice backend);

// In words; empty if there is no difference.
std::string difference(const CodedCase& cpu, const CodedCase& cuda);

// Says what is wrong with a stream as a decoder sees it, whose pictures are compared with the reconstructions
// if there are any. Empty if nothing is, or if this build has no decoder (can_decode).
std::string decoding_fault(const RandomCase& random_case, const CodedCase& coded);
bool can_decode();

}  // namespace cu264::parity
