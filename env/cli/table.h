#ifndef TOUCHSTONE_ENV_CLI_TABLE_H_
#define TOUCHSTONE_ENV_CLI_TABLE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace touchstone::cli {

// A table for people: columns as wide as their widest cell, two blanks between them.
class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Missing cells are empty; there may not be more cells than columns. Cells are UTF-8 without line breaks.
  void Add(std::vector<std::string> cells);
  // Title line and rows, each ended by a line feed, without blanks at the end of lines.
  std::string ToString() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Characters of UTF-8 text, as a terminal counts them for the scripts that we print (no wide or combining ones).
size_t DisplayWidth(std::string_view text);

bool IsUtf8(std::string_view text);

// The text on one line and safe for a terminal: control characters and line breaks become blanks, invalid UTF-8 a '?'.
// Whatever came from a candidate goes through it before it is printed.
std::string OneLine(std::string_view text);

// "1.234 ms", "56.7 µs": four digits at most, the unit that fits.
std::string FormatMicroseconds(double us);

}  // namespace touchstone::cli

#endif  // TOUCHSTONE_ENV_CLI_TABLE_H_
