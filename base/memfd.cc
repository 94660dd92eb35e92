#include "base/memfd.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <utility>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

namespace touchstone {

Result<UniqueFd> CreateMemfd(const char* name, size_t bytes) {
  UniqueFd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid()) return ErrnoError("memfd_create");
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) return ErrnoError("sizing a memfd");
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) return ErrnoError("sealing a memfd");
  return fd;
}

Result<UniqueFd> CreateSealedMemfd(const char* name, std::string_view content) {
  UniqueFd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid()) return ErrnoError("memfd_create");
  while (!content.empty()) {
    const ssize_t written = ::write(fd.get(), content.data(), content.size());
    if (written < 0) return ErrnoError("writing a memfd");
    content.remove_prefix(static_cast<size_t>(written));
  }
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0) {
    return ErrnoError("sealing a memfd");
  }
  return fd;
}

Status SealFutureWrites(int fd) {
  if (::fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0) return ErrnoError("sealing a memfd");
  return {};
}

Result<std::string> ReadAll(int fd, size_t limit) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return ErrnoError("fstat");
  if (!S_ISREG(info.st_mode)) return Error(ErrorCode::kInvalidArgument, "not a regular file");
  const auto size = static_cast<size_t>(info.st_size);
  if (size > limit) {
    return Error(ErrorCode::kInvalidArgument,
                 "file of " + std::to_string(size) + " bytes, the limit is " + std::to_string(limit));
  }
  std::string content(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(fd, content.data() + done, size - done, static_cast<off_t>(done));
    if (got < 0) return ErrnoError("reading a file");
    if (got == 0) return Error(ErrorCode::kCorrupt, "file ended early");
    done += static_cast<size_t>(got);
  }
  return content;
}

Result<Mapping> Mapping::Map(int fd, size_t bytes, Access access) {
  const int protection = access == Access::kRead ? PROT_READ : PROT_READ | PROT_WRITE;
  void* data = ::mmap(nullptr, bytes, protection, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) return ErrnoError("mmap");
  return Mapping(static_cast<std::byte*>(data), bytes);
}

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

}  // namespace touchstone
