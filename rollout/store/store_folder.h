// A store's folder: who may write to it, and whether it is still the one that was opened.
#ifndef TOUCHSTONE_ROLLOUT_STORE_STORE_FOLDER_H_
#define TOUCHSTONE_ROLLOUT_STORE_STORE_FOLDER_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace touchstone {

class StoreFolder {
 public:
  // Makes the folder where it is not there and locks it. kUnavailable: another writer, or it cannot be written to.
  static Result<StoreFolder> Claim(const std::string& folder);

  std::string database() const;

  // Remembers which files the database consists of now.
  Status Pin();
  // kUnavailable: one of them is no longer the file that was pinned. What is written then goes nowhere.
  Status CheckPinned() const;
  // kExhausted: less than this is free on the disk.
  Status CheckFree(uint64_t bytes) const;

 private:
  struct File {
    std::string path;
    dev_t device = 0;
    ino_t inode = 0;
  };
  StoreFolder(std::string folder, UniqueFd lock) : folder_(std::move(folder)), lock_(std::move(lock)) {}
  std::string folder_;
  UniqueFd lock_;  // held for as long as this lives
  std::vector<File> pinned_;
};

// The path of the database in a store's folder.
std::string DatabasePath(const std::string& folder);

}  // namespace touchstone

#endif  // TOUCHSTONE_ROLLOUT_STORE_STORE_FOLDER_H_
