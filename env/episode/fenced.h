#ifndef TOUCHSTONE_ENV_EPISODE_FENCED_H_
#define TOUCHSTONE_ENV_EPISODE_FENCED_H_

#include <string>
#include <string_view>

namespace touchstone {

// `text` as a fenced block of Markdown with this mark. The fence is longer than any run of backticks in the text, so
// that code of others cannot end it.
std::string Fenced(std::string_view text, std::string_view mark);

}  // namespace touchstone

#endif  // TOUCHSTONE_ENV_EPISODE_FENCED_H_
