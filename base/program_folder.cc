#include "base/program_folder.h"

#include <filesystem>
#include <system_error>

namespace touchstone {

std::string ProgramFolder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path().string();
}

}  // namespace touchstone
