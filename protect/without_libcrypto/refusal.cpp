// Takes the place of protect/libcrypto.cpp in libcu264.so, whose options ask for nothing that needs it:
// whoever links that library links no libcrypto. Random numbers, codes and keystream are refused, so that
// nothing can go out unprotected.
#include "cu264/status.h"
#include "protect/keys.h"

namespace cu264::protect {
namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorCode::unsupported, "this library was linked without libcrypto",
              "protect finished files with the command cu264, or link the C++ library");
}

}  // namespace

void fill_at_random(std::span<std::uint8_t>) {
  refuse();
}

void fill_with_secret(std::span<std::uint8_t>) {
  refuse();
}

void Hmac::ContextDeleter::operator()(evp_mac_ctx_st*) const {}
Hmac::Hmac(ByteSpan) {
  refuse();
}
Hmac::~Hmac() = default;
void Hmac::begin() {
  refuse();
}
void Hmac::add(ByteSpan) {
  refuse();
}
Digest Hmac::take() {
  refuse();
}

bool equal_in_constant_time(ByteSpan, ByteSpan) {
  refuse();
}

void KeystreamCipher::ContextDeleter::operator()(evp_cipher_ctx_st*) const {}
KeystreamCipher::KeystreamCipher(const Digest&) {
  refuse();
}
void KeystreamCipher::keystream(std::span<AesBlock>) const {
  refuse();
}

}  // namespace cu264::protect
