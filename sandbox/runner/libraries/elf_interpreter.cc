#include "sandbox/runner/libraries/elf_interpreter.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/unique_fd.h"

namespace touchstone {
namespace {

bool ReadExactly(int fd, void* to, size_t bytes, uint64_t offset) {
  return ::pread(fd, to, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

}  // namespace

Result<std::string> ElfInterpreter(const std::string& program) {
  constexpr size_t kMaxPathBytes = 4096;
  const UniqueFd file(::open(program.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return ErrnoError(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kInvalidArgument, program);
  const Error not_elf(ErrorCode::kInvalidArgument, program + ": not a 64-bit ELF program");
  Elf64_Ehdr header{};
  if (!ReadExactly(file.get(), &header, sizeof(header), 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr)) {
    return not_elf;
  }
  for (size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!ReadExactly(file.get(), &segment, sizeof(segment), header.e_phoff + i * sizeof(segment))) return not_elf;
    if (segment.p_type != PT_INTERP) continue;
    if (segment.p_filesz == 0 || segment.p_filesz > kMaxPathBytes) return not_elf;
    std::string path(segment.p_filesz, '\0');
    if (!ReadExactly(file.get(), path.data(), path.size(), segment.p_offset)) return not_elf;
    return std::string(path.c_str());
  }
  return std::string();
}

}  // namespace touchstone
