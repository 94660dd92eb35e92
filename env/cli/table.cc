#include "env/cli/table.h"

#include <algorithm>
#include <cstdio>

#include "base/result.h"

namespace touchstone::cli {
namespace {

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Length of the well-formed UTF-8 sequence at the start of `text`, 0 where there is none.
size_t SequenceLength(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t length = first < 0x80   ? 1
                        : first < 0xC2 ? 0
                        : first < 0xE0 ? 2
                        : first < 0xF0 ? 3
                        : first < 0xF5 ? 4
                                       : 0;
  if (length == 0 || text.size() < length) return 0;
  return std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(length), IsContinuation) ? length : 0;
}

}  // namespace

void Table::Add(std::vector<std::string> cells) {
  TOUCHSTONE_CHECK(cells.size() <= columns_.size(), "more cells than columns");
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::ToString() const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = DisplayWidth(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, DisplayWidth(row[i]));
    widths.push_back(width);
  }
  std::string text;
  const auto add_line = [&](const auto& cell_of) {
    std::string line;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::string& cell = cell_of(i);
      const std::string padding(widths[i] - DisplayWidth(cell), ' ');
      if (i > 0) line += "  ";
      line += columns_[i].align == Align::kRight ? padding + cell : cell + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  };
  add_line([&](size_t i) -> const std::string& { return columns_[i].title; });
  for (const auto& row : rows_) add_line([&](size_t i) -> const std::string& { return row[i]; });
  return text;
}

size_t DisplayWidth(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !IsContinuation(c); }));
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string OneLine(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    const auto first = static_cast<unsigned char>(text[0]);
    // U+0080 … U+009F are control characters, too: terminals obey them.
    const bool control = first < 0x20 || first == 0x7F || (first == 0xC2 && length == 2 && (text[1] & 0xE0) == 0x80);
    if (length == 0) {
      line += '?';
    } else if (control) {
      line += ' ';
    } else {
      line += text.substr(0, length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return line;
}

std::string FormatMicroseconds(double us) {
  char text[32];
  if (us >= 1e6) {
    std::snprintf(text, sizeof(text), "%.4g s", us / 1e6);
  } else if (us >= 1e3) {
    std::snprintf(text, sizeof(text), "%.4g ms", us / 1e3);
  } else {
    std::snprintf(text, sizeof(text), "%.4g µs", us);
  }
  return text;
}

}  // namespace touchstone::cli
