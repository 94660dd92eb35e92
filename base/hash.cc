#include "base/hash.h"

#include <sodium.h>

#include "base/result.h"

namespace touchstone {
namespace {

void Initialise() {
  static const int state = ::sodium_init();
  TOUCHSTONE_CHECK(state >= 0, "libsodium does not start");
}

Digest Blake2b(std::string_view bytes, const SecretKey* key) {
  Initialise();
  Digest digest{};
  ::crypto_generichash(digest.data(), digest.size(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                       key != nullptr ? key->data() : nullptr, key != nullptr ? key->size() : 0);
  return digest;
}

}  // namespace

Digest Hash(std::string_view bytes) { return Blake2b(bytes, nullptr); }
Digest KeyedHash(const SecretKey& key, std::string_view bytes) { return Blake2b(bytes, &key); }

std::string ToHex(const Digest& digest) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * digest.size());
  for (const uint8_t byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

SecretKey NewSecretKey() {
  Initialise();
  SecretKey key{};
  ::randombytes_buf(key.data(), key.size());
  return key;
}

}  // namespace touchstone
