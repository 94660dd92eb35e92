#ifndef TOUCHSTONE_SANDBOX_BOX_PRIVATE_FOLDER_H_
#define TOUCHSTONE_SANDBOX_BOX_PRIVATE_FOLDER_H_

#include <sys/types.h>

#include <string>

#include "base/result.h"

namespace touchstone {

// The folder on the host that stands for /tmp in a box without a mount namespace. Removed with the object, whatever the
// box put into it.
class PrivateFolder {
 public:
  // `name` must be new; the folder belongs to `uid` and nobody else may look into it.
  static Result<PrivateFolder> Create(const std::string& name, uid_t uid);
  PrivateFolder() = default;
  ~PrivateFolder();
  PrivateFolder(PrivateFolder&& other) noexcept;
  PrivateFolder& operator=(PrivateFolder&& other) noexcept;
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Removes the private folders of spawners that no longer live.
void SweepStalePrivateFolders();

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BOX_PRIVATE_FOLDER_H_
