// Arithmetic over dims. The texts come from files of strangers, so depth, length and every operation are checked.
#include <cctype>
#include <charconv>
#include <string_view>

#include "reward/task/task.h"

namespace touchstone {
namespace {

constexpr int kMaxDepth = 32;

// Recursive descent: sum = product (± product)*, product = unary (* / % unary)*, unary = -unary | atom,
// atom = integer | dim | ( sum ).
class Parser {
 public:
  Parser(std::string_view text, const DimValues& dims) : text_(text), dims_(dims) {}

  Result<int64_t> Parse() {
    if (text_.size() > kMaxExpressionBytes) {
      return Fail("longer than the limit of " + std::to_string(kMaxExpressionBytes) + " bytes");
    }
    TOUCHSTONE_ASSIGN(const int64_t value, Sum(0));
    SkipSpaces();
    if (at_ != text_.size()) return Fail("unexpected '" + std::string(1, text_[at_]) + "'");
    return value;
  }

 private:
  Error Fail(const std::string& what) const {
    return Error(ErrorCode::kInvalidArgument, "expression '" + std::string(text_.substr(0, kMaxExpressionBytes)) +
                                                  "', column " + std::to_string(at_ + 1) + ": " + what);
  }

  void SkipSpaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  // The next character that is not a space, 0 at the end.
  char Peek() {
    SkipSpaces();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  Result<int64_t> Sum(int depth) {
    TOUCHSTONE_ASSIGN(int64_t value, Product(depth));
    for (char op = Peek(); op == '+' || op == '-'; op = Peek()) {
      ++at_;
      TOUCHSTONE_ASSIGN(const int64_t right, Product(depth));
      const bool overflow =
          op == '+' ? __builtin_add_overflow(value, right, &value) : __builtin_sub_overflow(value, right, &value);
      if (overflow) return Fail("the value does not fit into 64 bits");
    }
    return value;
  }

  Result<int64_t> Product(int depth) {
    TOUCHSTONE_ASSIGN(int64_t value, Unary(depth));
    for (char op = Peek(); op == '*' || op == '/' || op == '%'; op = Peek()) {
      ++at_;
      TOUCHSTONE_ASSIGN(const int64_t right, Unary(depth));
      if (op == '*') {
        if (__builtin_mul_overflow(value, right, &value)) return Fail("the value does not fit into 64 bits");
        continue;
      }
      if (right == 0) return Fail("division by zero");
      if (right == -1) {  // INT64_MIN / -1 traps
        if (op == '/' && __builtin_sub_overflow(int64_t{0}, value, &value)) {
          return Fail("the value does not fit into 64 bits");
        }
        if (op == '%') value = 0;
        continue;
      }
      int64_t quotient = value / right;
      int64_t rest = value % right;
      if (rest != 0 && (rest < 0) != (right < 0)) {
        --quotient;
        rest += right;
      }
      value = op == '/' ? quotient : rest;
    }
    return value;
  }

  Result<int64_t> Unary(int depth) {
    if (depth >= kMaxDepth) return Fail("nested deeper than " + std::to_string(kMaxDepth));
    if (Peek() != '-') return Atom(depth);
    ++at_;
    TOUCHSTONE_ASSIGN(int64_t value, Unary(depth + 1));
    if (__builtin_sub_overflow(int64_t{0}, value, &value)) return Fail("the value does not fit into 64 bits");
    return value;
  }

  Result<int64_t> Atom(int depth) {
    const char first = Peek();
    if (first == '(') {
      ++at_;
      TOUCHSTONE_ASSIGN(const int64_t value, Sum(depth + 1));
      if (Peek() != ')') return Fail("')' expected");
      ++at_;
      return value;
    }
    if (first >= '0' && first <= '9') {
      int64_t value = 0;
      const char* begin = text_.data() + at_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
      if (error != std::errc()) return Fail("the number does not fit into 64 bits");
      at_ += static_cast<size_t>(end - begin);
      return value;
    }
    size_t end = at_;
    while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 || text_[end] == '_')) {
      ++end;
    }
    if (end == at_) {
      return Fail(first == '\0' ? "ends where a number, a dim or '(' must stand" : "number, dim or '(' expected");
    }
    const std::string_view name = text_.substr(at_, end - at_);
    for (const auto& [dim, value] : dims_) {
      if (dim != name) continue;
      at_ = end;
      return value;
    }
    return Fail("no dim '" + std::string(name) + "'");
  }

  std::string_view text_;
  const DimValues& dims_;
  size_t at_ = 0;
};

}  // namespace

Result<int64_t> Evaluate(const std::string& expression, const DimValues& dims) {
  return Parser(expression, dims).Parse();
}

}  // namespace touchstone
