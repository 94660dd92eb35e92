#ifndef TOUCHSTONE_BASE_HASH_H_
#define TOUCHSTONE_BASE_HASH_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace touchstone {

using Digest = std::array<uint8_t, 32>;
using SecretKey = std::array<uint8_t, 32>;

// BLAKE2b with 256 bits (libsodium). Contents are addressed by its lower-case hexadecimal form.
Digest Hash(std::string_view bytes);
std::string ToHex(const Digest& digest);
inline std::string HashHex(std::string_view bytes) { return ToHex(Hash(bytes)); }

// The keyed form: who does not hold `key` can neither compute nor guess it.
Digest KeyedHash(const SecretKey& key, std::string_view bytes);

// 32 bytes of the operating system's random generator.
SecretKey NewSecretKey();

}  // namespace touchstone

#endif  // TOUCHSTONE_BASE_HASH_H_
