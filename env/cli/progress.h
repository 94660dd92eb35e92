#ifndef TOUCHSTONE_ENV_CLI_PROGRESS_H_
#define TOUCHSTONE_ENV_CLI_PROGRESS_H_

#include <chrono>
#include <cstddef>
#include <string>

namespace touchstone::cli {

// A bar on standard error while work of known length goes on; nothing where that is no terminal. One thread.
class Progress {
 public:
  explicit Progress(size_t total);
  ~Progress() { Clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Work on item `done` (counted from 0) begins; `label` says what it is.
  void Show(size_t done, const std::string& label);
  // Takes the bar away, so that something else can be printed.
  void Clear();

 private:
  const size_t total_;
  const bool enabled_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool shown_ = false;
};

// The bar's text: "[=====     ] 5/10  12 s  label", with the time that is left once one item is done.
std::string ProgressText(size_t done, size_t total, std::chrono::seconds elapsed, const std::string& label);

}  // namespace touchstone::cli

#endif  // TOUCHSTONE_ENV_CLI_PROGRESS_H_
