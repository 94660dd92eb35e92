#include "reward/task/yaml_cursor.h"

#include <yaml-cpp/yaml.h>

#include <charconv>
#include <cmath>
#include <map>
#include <set>

namespace touchstone {

struct YamlCursor::Impl {
  YAML::Node node;
  std::shared_ptr<const std::string> file;
  std::string path;
  int line = 0;
};

namespace {

// Beyond this a number in a message is of no use to anybody.
constexpr size_t kMaxQuotedBytes = 60;

std::string Quote(const std::string& text) {
  return "'" + (text.size() > kMaxQuotedBytes ? text.substr(0, kMaxQuotedBytes) + "…" : text) + "'";
}

std::string ToText(double number) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), number);
  return error == std::errc() ? std::string(buffer, end) : std::string("?");
}

}  // namespace

Result<YamlCursor> YamlCursor::Parse(const std::string& text, const std::string& file) {
  if (text.size() > kMaxYamlBytes) {
    return Error(ErrorCode::kInvalidArgument,
                 file + ":1: " + std::to_string(text.size()) + " bytes, the limit is " + std::to_string(kMaxYamlBytes));
  }
  auto impl = std::make_shared<Impl>();
  impl->file = std::make_shared<const std::string>(file);
  try {
    impl->node = YAML::Load(text);
    impl->line = impl->node.Mark().line + 1;
  } catch (const YAML::Exception& e) {
    return Error(ErrorCode::kInvalidArgument,
                 file + ":" + std::to_string(e.mark.line + 1) + ": not YAML: " + std::string(e.msg));
  } catch (const std::exception& e) {
    return Error(ErrorCode::kInvalidArgument, file + ":1: not YAML: " + std::string(e.what()));
  }
  return YamlCursor(std::move(impl));
}

Error YamlCursor::Fail(const std::string& what) const {
  return Error(ErrorCode::kInvalidArgument, *impl_->file + ":" + std::to_string(impl_->line) + ": " +
                                                (impl_->path.empty() ? "" : impl_->path + ": ") + what);
}

bool YamlCursor::IsMap() const { return impl_->node.IsMap(); }
bool YamlCursor::IsList() const { return impl_->node.IsSequence(); }
bool YamlCursor::IsScalar() const { return impl_->node.IsScalar(); }

Result<std::vector<std::pair<std::string, YamlCursor>>> YamlCursor::Map() const {
  if (!IsMap()) return Fail("a map of keys expected");
  std::vector<std::pair<std::string, YamlCursor>> entries;
  std::set<std::string> seen;
  for (const auto& entry : impl_->node) {
    auto impl = std::make_shared<Impl>();
    impl->node = entry.second;
    impl->file = impl_->file;
    impl->line = entry.first.Mark().line + 1;
    if (!entry.first.IsScalar()) {
      impl->path = impl_->path;
      return YamlCursor(std::move(impl)).Fail("a key must be a word");
    }
    const std::string& key = entry.first.Scalar();
    impl->path = impl_->path.empty() ? key : impl_->path + "." + key;
    YamlCursor cursor(std::move(impl));
    if (!seen.insert(key).second) return cursor.Fail("stands twice");
    entries.emplace_back(key, std::move(cursor));
  }
  return entries;
}

Result<std::vector<YamlCursor>> YamlCursor::List() const {
  if (!IsList()) return Fail("a list expected");
  std::vector<YamlCursor> items;
  for (const auto& item : impl_->node) {
    auto impl = std::make_shared<Impl>();
    impl->node = static_cast<const YAML::Node&>(item);
    impl->file = impl_->file;
    impl->line = item.Mark().line + 1;
    impl->path = impl_->path + "[" + std::to_string(items.size()) + "]";
    items.push_back(YamlCursor(std::move(impl)));
  }
  return items;
}

Result<std::string> YamlCursor::Scalar(const char* what) const {
  if (!IsScalar()) return Fail(std::string(what) + " expected");
  return impl_->node.Scalar();
}

Result<std::string> YamlCursor::Text(size_t max_bytes) const {
  TOUCHSTONE_ASSIGN(std::string text, Scalar("a text"));
  if (text.empty()) return Fail("empty");
  if (text.size() > max_bytes) {
    return Fail(std::to_string(text.size()) + " bytes, the limit is " + std::to_string(max_bytes));
  }
  return text;
}

Result<int64_t> YamlCursor::Integer(int64_t low, int64_t high) const {
  TOUCHSTONE_ASSIGN(const std::string text, Scalar("an integer"));
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return Fail(Quote(text) + " is not an integer");
  if (value < low || value > high) {
    return Fail(text + " is outside [" + std::to_string(low) + ", " + std::to_string(high) + "]");
  }
  return value;
}

Result<double> YamlCursor::Number(double low, double high) const {
  TOUCHSTONE_ASSIGN(const std::string text, Scalar("a number"));
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return Fail(Quote(text) + " is not a finite number");
  }
  if (value < low || value > high) return Fail(text + " is outside [" + ToText(low) + ", " + ToText(high) + "]");
  return value;
}

Result<bool> YamlCursor::Flag() const {
  TOUCHSTONE_ASSIGN(const std::string text, Scalar("true or false"));
  if (text == "true") return true;
  if (text == "false") return false;
  return Fail(Quote(text) + " is neither true nor false");
}

Status ReadFields(const YamlCursor& map, const std::vector<YamlField>& fields) {
  TOUCHSTONE_ASSIGN(const auto entries, map.Map());
  std::map<std::string_view, const YamlCursor*> present;
  for (const auto& [key, value] : entries) {
    bool known = false;
    std::string names;
    for (const YamlField& field : fields) {
      known = known || field.key == key;
      names += (names.empty() ? "" : ", ") + std::string(field.key);
    }
    if (!known) return value.Fail("unknown key; known here: " + names);
    present[key] = &value;
  }
  for (const YamlField& field : fields) {
    const auto found = present.find(field.key);
    if (found != present.end()) {
      TOUCHSTONE_RETURN_IF_ERROR(field.read(*found->second));
    } else if (field.required) {
      return map.Fail("key '" + std::string(field.key) + "' is missing");
    }
  }
  return {};
}

}  // namespace touchstone
