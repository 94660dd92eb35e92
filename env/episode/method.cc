#include "env/episode/method.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "reward/presets/preset.h"
#include "reward/task/yaml_cursor.h"

namespace touchstone {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxNameBytes = 64;

YamlField Text(std::string_view key, std::string& into) {
  return {key, false, [&into](const YamlCursor& value) -> Status {
            TOUCHSTONE_ASSIGN(into, value.Text(kMaxNameBytes));
            return {};
          }};
}

YamlField Integer(std::string_view key, int& into, int low, int high) {
  return {key, false, [&into, low, high](const YamlCursor& value) -> Status {
            TOUCHSTONE_ASSIGN(const int64_t number, value.Integer(low, high));
            into = static_cast<int>(number);
            return {};
          }};
}

template <typename Into>  // double or std::optional<double>
YamlField Number(std::string_view key, Into& into, double low, double high) {
  return {key, false, [&into, low, high](const YamlCursor& value) -> Status {
            TOUCHSTONE_ASSIGN(into, value.Number(low, high));
            return {};
          }};
}

std::vector<YamlField> FieldsOf(Method& method) {
  return {
      Text("profile", method.profile),
      {"reward", false,
       [&method](const YamlCursor& value) -> Status {
         TOUCHSTONE_ASSIGN(method.reward, value.Text(kMaxNameBytes));
         const auto preset = FindRewardPreset(method.reward);
         if (!preset.ok()) return value.Fail(preset.error().message());
         return {};
       }},
      Text("size", method.size),
      Integer("max_turns", method.max_turns, 1, kMaxTurns),
      Number("target_speedup", method.target_speedup, 1e-3, 1e6),
      {"budget_ms", false,
       [&method](const YamlCursor& value) -> Status {
         TOUCHSTONE_ASSIGN(const int64_t ms, value.Integer(1, kMaxBudget.count()));
         method.budget = std::chrono::milliseconds(ms);
         return {};
       }},
      Integer("exemplars", method.exemplars, 0, kMaxExemplars),
      Text("selector", method.selector),
      Number("temperature", method.temperature, 1e-6, 1e6),
      Number("bucket_width", method.bucket_width, 1e-3, 1e6),
      {"feedback", false,
       [&method](const YamlCursor& value) -> Status {
         TOUCHSTONE_ASSIGN(method.feedback, value.Text(kMaxNameBytes));
         if (!IsFeedback(method.feedback)) return value.Fail("must be full, class or none");
         return {};
       }},
  };
}

}  // namespace

bool IsFeedback(std::string_view name) { return name == "full" || name == "class" || name == "none"; }

Result<Method> ParseMethod(const std::string& yaml, const std::string& method_name,
                           const std::string& file_for_errors) {
  TOUCHSTONE_ASSIGN(const YamlCursor root, YamlCursor::Parse(yaml, file_for_errors));
  Method method;
  method.name = method_name;
  TOUCHSTONE_RETURN_IF_ERROR(ReadFields(root, FieldsOf(method)));
  return method;
}

Result<std::map<std::string, Method>> LoadMethods(const std::string& folder) {
  std::map<std::string, Method> methods;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".yaml") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (!file.is_open() || file.bad()) return Error(ErrorCode::kNotFound, entry.path().string() + ": cannot be read");
    const std::string name = entry.path().stem().string();
    TOUCHSTONE_ASSIGN(methods[name], ParseMethod(text, name, entry.path().string()));
  }
  if (methods.count("default") == 0) return Error(ErrorCode::kNotFound, "no default.yaml in " + folder);
  return methods;
}

}  // namespace touchstone
