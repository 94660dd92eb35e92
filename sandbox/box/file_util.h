// Small reads and writes of kernel files.
#ifndef TOUCHSTONE_SANDBOX_BOX_FILE_UTIL_H_
#define TOUCHSTONE_SANDBOX_BOX_FILE_UTIL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace touchstone {

// One write() of `value` into a file that exists.
Status WriteKernelFile(const std::string& path, std::string_view value);
// The whole text, read in one go; nullopt when it cannot be read.
std::optional<std::string> ReadKernelFile(const std::string& path);
std::optional<uint64_t> ReadKernelNumber(const std::string& path);
// The number behind `key` in a file of "key value" lines.
std::optional<uint64_t> FindKey(std::string_view text, std::string_view key);
UniqueFd OpenFile(const std::string& path, int flags);

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BOX_FILE_UTIL_H_
