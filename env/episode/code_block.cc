#include "env/episode/code_block.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "base/utf8.h"

namespace touchstone {
namespace {

constexpr std::string_view kBlank = " \t\r";

struct Block {
  enum class Mark { kLanguage, kNone, kOther };
  Mark mark = Mark::kOther;
  size_t begin = 0;  // bytes of the response, without the lines of the fences
  size_t end = 0;
  bool closed = false;
};

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

Block::Mark MarkOf(std::string_view info, std::string_view interface_name) {
  if (info.empty()) return Block::Mark::kNone;
  std::string word(info.substr(0, info.find_first_of(" \t{")));
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
  constexpr std::array<std::string_view, 4> kCpp = {"cpp", "c++", "cc", "cxx"};
  const bool wanted = interface_name == "cpp" && std::find(kCpp.begin(), kCpp.end(), word) != kCpp.end();
  return wanted ? Block::Mark::kLanguage : Block::Mark::kOther;
}

// The number of backticks that a line starts with; 0 where it is no fence.
size_t FenceOf(std::string_view line) {
  const size_t ticks = std::min(line.find_first_not_of('`'), line.size());
  return ticks >= 3 ? ticks : 0;
}

// Calls `take` with each block in its order. Fences are those of CommonMark, but however far they are indented: models
// put blocks into lists.
template <typename Take>
void ForEachBlock(std::string_view text, std::string_view interface_name, Take take) {
  std::optional<Block> open;
  size_t open_ticks = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t feed = std::min(text.find('\n', at), text.size());
    const std::string_view line = Trim(text.substr(at, feed - at));
    const size_t next = std::min(feed + 1, text.size());
    const size_t ticks = FenceOf(line);
    const std::string_view info = Trim(line.substr(ticks));
    if (open) {
      if (ticks >= open_ticks && info.empty()) {
        open->end = at;
        open->closed = true;
        take(*open);
        open.reset();
      }
    } else if (ticks > 0 && info.find('`') == std::string_view::npos) {
      open = Block{MarkOf(info, interface_name), next, text.size(), false};
      open_ticks = ticks;
    }
    at = feed + 1;
  }
  if (open) take(*open);
}

std::optional<Block> ChooseBlock(std::string_view text, std::string_view interface_name) {
  std::optional<Block> marked;
  std::optional<Block> unmarked;
  ForEachBlock(text, interface_name, [&](const Block& block) {
    if (block.mark == Block::Mark::kLanguage) marked = block;
    if (block.mark == Block::Mark::kNone) unmarked = block;
  });
  return marked ? marked : unmarked;
}

Submitted Refused(std::string why) {
  Submitted none;
  none.why_format_error = std::move(why);
  return none;
}

std::string WhyNotText(std::string_view text, const std::string& what) {
  if (text.find('\0') != std::string_view::npos) return "the " + what + " holds a NUL byte";
  if (!IsUtf8(text)) return "the " + what + " is not UTF-8 from byte " + std::to_string(Utf8Prefix(text)) + " on";
  return "";
}

std::string WhyNoSource(std::string_view source, size_t max_source_bytes) {
  if (source.size() > max_source_bytes) {
    return "the code has " + std::to_string(source.size()) + " bytes, above the limit of " +
           std::to_string(max_source_bytes);
  }
  if (source.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos) return "the code is empty";
  return "";
}

}  // namespace

Submitted TakeCandidate(const Action& action, std::string_view interface_name, size_t max_source_bytes) {
  Submitted submitted;
  if (!action.source.empty()) {
    if (std::string why = WhyNoSource(action.source, max_source_bytes); !why.empty()) return Refused(std::move(why));
    if (std::string why = WhyNotText(action.source, "code"); !why.empty()) return Refused(std::move(why));
    submitted.source = action.source;
    submitted.code_length = static_cast<int64_t>(CountCharacters(action.source));
    return submitted;
  }
  const std::string_view text = action.response;
  if (text.size() > kResponsePerSource * max_source_bytes) {
    return Refused("the answer has " + std::to_string(text.size()) + " bytes, above the limit of " +
                   std::to_string(kResponsePerSource * max_source_bytes));
  }
  if (std::string why = WhyNotText(text, "answer"); !why.empty()) return Refused(std::move(why));
  const std::optional<Block> block = ChooseBlock(text, interface_name);
  if (!block) return Refused("the answer holds no fenced code block marked " + std::string(interface_name));
  if (!block->closed) return Refused("the last code block is not closed");
  const std::string_view source = text.substr(block->begin, block->end - block->begin);
  if (std::string why = WhyNoSource(source, max_source_bytes); !why.empty()) return Refused(std::move(why));
  submitted.source = source;
  submitted.code_length = static_cast<int64_t>(CountCharacters(source));
  submitted.code_begin = static_cast<int64_t>(CountCharacters(text.substr(0, block->begin)));
  submitted.code_end = submitted.code_begin + submitted.code_length;
  return submitted;
}

}  // namespace touchstone
