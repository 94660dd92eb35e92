#include "env/episode/fenced.h"

#include <algorithm>

namespace touchstone {

std::string Fenced(std::string_view text, std::string_view mark) {
  size_t longest = 2;
  size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  std::string block = fence + std::string(mark) + "\n" + std::string(text);
  if (!text.ends_with('\n')) block += "\n";
  return block + fence + "\n";
}

}  // namespace touchstone
