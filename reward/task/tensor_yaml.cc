#include "reward/task/tensor_yaml.h"

#include <algorithm>
#include <array>

#include "sandbox/runner/protocol.h"

namespace touchstone {
namespace {

constexpr size_t kMaxNameBytes = 32;
// Bounds of integer inputs pass through double.
constexpr int64_t kMaxExactInteger = int64_t{1} << 53;

// Words that cannot be a parameter's name in the rendered C++ header or in the reference's signature.
constexpr std::array kReservedWords = {"alignas",     "alignof",      "and",
                                       "as",          "asm",          "assert",
                                       "async",       "auto",         "await",
                                       "bool",        "break",        "case",
                                       "catch",       "char",         "class",
                                       "compl",       "concept",      "const",
                                       "continue",    "def",          "default",
                                       "del",         "delete",       "do",
                                       "double",      "elif",         "else",
                                       "enum",        "except",       "explicit",
                                       "export",      "extern",       "false",
                                       "finally",     "float",        "for",
                                       "friend",      "from",         "global",
                                       "goto",        "if",           "import",
                                       "in",          "inline",       "int",
                                       "is",          "lambda",       "long",
                                       "mutable",     "namespace",    "new",
                                       "noexcept",    "nonlocal",     "not",
                                       "operator",    "or",           "pass",
                                       "private",     "protected",    "public",
                                       "raise",       "register",     "reinterpret_cast",
                                       "requires",    "return",       "run",
                                       "short",       "signed",       "sizeof",
                                       "static",      "struct",       "switch",
                                       "template",    "this",         "throw",
                                       "torch",       "true",         "try",
                                       "typedef",     "typeid",       "typename",
                                       "union",       "unsigned",     "using",
                                       "virtual",     "void",         "volatile",
                                       "while",       "with",         "xor",
                                       "yield",       "reference",    "and_eq",
                                       "bitand",      "bitor",        "const_cast",
                                       "consteval",   "constexpr",    "constinit",
                                       "co_await",    "co_return",    "co_yield",
                                       "decltype",    "dynamic_cast", "not_eq",
                                       "nullptr",     "or_eq",        "static_assert",
                                       "static_cast", "thread_local", "xor_eq",
                                       "float16",     "bfloat16"};

// A number, or for bounds of index ranges an expression over the dims.
Status ReadIntegerBound(const YamlCursor& cursor, double* value, std::string* expression) {
  if (const auto number = cursor.Integer(-kMaxExactInteger, kMaxExactInteger); number.ok()) {
    *value = static_cast<double>(*number);
    return {};
  }
  TOUCHSTONE_ASSIGN(*expression, cursor.Text(kMaxExpressionBytes));
  return {};
}

}  // namespace

Result<std::string> ReadName(const YamlCursor& cursor) {
  TOUCHSTONE_ASSIGN(const std::string name, cursor.Text(kMaxNameBytes));
  const bool plain = name[0] >= 'a' && name[0] <= 'z' && std::all_of(name.begin(), name.end(), [](char c) {
                       return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
                     });
  if (!plain) return cursor.Fail("'" + name + "': a name is a lower-case letter, then lower-case letters, digits, '_'");
  if (std::find(kReservedWords.begin(), kReservedWords.end(), name) != kReservedWords.end() || name.ends_with("_t")) {
    return cursor.Fail("'" + name + "' means something in C++ or Python");
  }
  return name;
}

Result<DType> ReadDType(const YamlCursor& cursor) {
  TOUCHSTONE_ASSIGN(const std::string name, cursor.Text(kMaxNameBytes));
  const auto dtype = DTypeFromString(name);
  if (!dtype) return cursor.Fail("no dtype '" + name + "'; float32, float64, int32, int64, uint8, bool, …");
  return *dtype;
}

YamlField NumberField(std::string_view key, bool required, double low, double high, double* out) {
  return {key, required, [=](const YamlCursor& cursor) -> Status {
            TOUCHSTONE_ASSIGN(*out, cursor.Number(low, high));
            return {};
          }};
}

Result<Distribution> ReadDistribution(const YamlCursor& cursor, DType dtype) {
  Distribution result;
  std::string family;
  TOUCHSTONE_ASSIGN(const auto entries, cursor.Map());
  for (const auto& [key, value] : entries) {
    if (key != "family") continue;
    TOUCHSTONE_ASSIGN(family, value.Text(kMaxNameBytes));
  }
  std::vector<YamlField> fields = {{"family", true, [](const YamlCursor&) { return Status(); }}};
  const YamlField zero_share = NumberField("zero_share", false, 0, 1, &result.zero_share);
  using Family = Distribution::Family;
  bool needs_float = false;
  bool needs_integer = false;
  if (family == "uniform") {
    result.family = Family::kUniform;
    needs_float = true;
    fields.push_back(NumberField("low", true, -kHuge, kHuge, &result.low));
    fields.push_back(NumberField("high", true, -kHuge, kHuge, &result.high));
    fields.push_back(zero_share);
  } else if (family == "normal") {
    result.family = Family::kNormal;
    needs_float = true;
    fields.push_back(NumberField("mean", true, -kHuge, kHuge, &result.low));
    fields.push_back(NumberField("stddev", true, 0, kHuge, &result.high));
    fields.push_back(zero_share);
  } else if (family == "integer") {
    result.family = Family::kInteger;
    fields.push_back({"low", true, [&result](const YamlCursor& bound) {
                        return ReadIntegerBound(bound, &result.low, &result.low_expression);
                      }});
    fields.push_back({"high", true, [&result](const YamlCursor& bound) {
                        return ReadIntegerBound(bound, &result.high, &result.high_expression);
                      }});
  } else if (family == "bernoulli") {
    result.family = Family::kBernoulli;
    fields.push_back(NumberField("probability", true, 0, 1, &result.low));
  } else if (family == "permutation") {
    result.family = Family::kPermutation;
    needs_integer = true;
  } else if (family == "constant") {
    result.family = Family::kConstant;
    fields.push_back(NumberField("value", true, -kHuge, kHuge, &result.low));
  } else {
    return cursor.Fail(family.empty()
                           ? "key 'family' is missing"
                           : "no family '" + family + "'; uniform, normal, integer, bernoulli, permutation, constant");
  }
  TOUCHSTONE_RETURN_IF_ERROR(ReadFields(cursor, fields));
  if (needs_float && !IsFloating(dtype)) return cursor.Fail("family '" + family + "' needs a floating dtype");
  if (needs_integer && (IsFloating(dtype) || dtype == DType::kBool)) {
    return cursor.Fail("family '" + family + "' needs an integer dtype");
  }
  if (result.family == Family::kUniform && !(result.low < result.high)) return cursor.Fail("low must be below high");
  if (result.family == Family::kNormal && result.high <= 0) return cursor.Fail("stddev must be above 0");
  return result;
}

Result<std::vector<std::string>> ReadShape(const YamlCursor& cursor) {
  TOUCHSTONE_ASSIGN(const auto items, cursor.List());
  if (items.size() > kMaxRank) {
    return cursor.Fail(std::to_string(items.size()) + " axes, the limit is " + std::to_string(kMaxRank));
  }
  std::vector<std::string> shape;
  for (const YamlCursor& item : items) {
    TOUCHSTONE_ASSIGN(std::string length, item.Text(kMaxExpressionBytes));
    shape.push_back(std::move(length));
  }
  return shape;
}

}  // namespace touchstone
