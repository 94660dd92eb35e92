// Anonymous memory that crosses process borders as a file descriptor.
#ifndef TOUCHSTONE_BASE_MEMFD_H_
#define TOUCHSTONE_BASE_MEMFD_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace touchstone {

// A memfd of `bytes` zero bytes whose size is sealed (SHRINK, GROW): whoever holds it cannot make the owner fault.
Result<UniqueFd> CreateMemfd(const char* name, size_t bytes);

// A memfd that holds `content` and can never be changed again by anybody (SHRINK, GROW, WRITE, SEAL).
Result<UniqueFd> CreateSealedMemfd(const char* name, std::string_view content);

// Lets later mappings of `fd` be read-only; mappings that exist keep writing (F_SEAL_FUTURE_WRITE).
Status SealFutureWrites(int fd);

// The whole content of a regular file or memfd. `limit` guards against a peer's size.
Result<std::string> ReadAll(int fd, size_t limit);

// A shared mapping, unmapped at the end. Move-only.
class Mapping {
 public:
  enum class Access { kRead, kReadWrite };
  static Result<Mapping> Map(int fd, size_t bytes, Access access);

  Mapping() = default;
  ~Mapping();
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  Mapping(std::byte* data, size_t size) : data_(data), size_(size) {}
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_BASE_MEMFD_H_
