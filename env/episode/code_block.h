#ifndef TOUCHSTONE_ENV_EPISODE_CODE_BLOCK_H_
#define TOUCHSTONE_ENV_EPISODE_CODE_BLOCK_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "env/messages.h"

namespace touchstone {

// What an action submits, or why it submits nothing. That is the candidate's fate, not an error: `format_error`.
struct Submitted {
  std::string source;
  int64_t code_begin = -1;  // span of the source in the response, in Unicode code points; -1: it was no response
  int64_t code_end = -1;
  int64_t code_length = 0;       // code points of the source
  std::string why_format_error;  // empty: there is a source
};

// The candidate of an action. A source is taken as it is. Of a response it is the content of the last fenced block
// that is marked with the language of the interface (cpp: ```cpp, ```c++, ```cc, ```cxx), or, where no block is marked
// so, of the last one without a mark. A source or a block is refused that is empty, above `max_source_bytes`, not
// UTF-8, or holds a NUL; a block that is not closed, too: the model did not finish it.
Submitted TakeCandidate(const Action& action, std::string_view interface_name, size_t max_source_bytes);

// A response may be this many times longer than a source.
inline constexpr size_t kResponsePerSource = 4;

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_EPISODE_CODE_BLOCK_H_
