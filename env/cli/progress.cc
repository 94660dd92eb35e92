#include "env/cli/progress.h"

#include <unistd.h>

#include <cstdio>

#include "env/cli/table.h"

namespace touchstone::cli {

Progress::Progress(size_t total) : total_(total), enabled_(::isatty(STDERR_FILENO) == 1) {}

void Progress::Show(size_t done, const std::string& label) {
  if (!enabled_) return;
  const auto elapsed = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start_);
  std::fprintf(stderr, "\r\x1b[K%s", ProgressText(done, total_, elapsed, label).c_str());
  std::fflush(stderr);
  shown_ = true;
}

void Progress::Clear() {
  if (!shown_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

std::string ProgressText(size_t done, size_t total, std::chrono::seconds elapsed, const std::string& label) {
  constexpr size_t kWidth = 24;
  const size_t filled = total == 0 ? kWidth : done * kWidth / total;
  std::string text = "[" + std::string(filled, '=') + std::string(kWidth - filled, ' ') + "] " + std::to_string(done) +
                     "/" + std::to_string(total) + "  " + std::to_string(elapsed.count()) + " s";
  if (done > 0 && done < total) {
    const auto left = elapsed.count() * static_cast<long>(total - done) / static_cast<long>(done);
    text += ", about " + std::to_string(left) + " s left";
  }
  return text + "  " + OneLine(label);
}

}  // namespace touchstone::cli
