#include "reward/judge/profile.h"

#include <yaml-cpp/yaml.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/program_folder.h"

namespace touchstone {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMebibyte = uint64_t{1} << 20;
constexpr double kHourMs = 3'600'000;

std::string Shown(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

template <typename T>
bool ParseNumber(const std::string& text, T& value) {
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  return parsed.ec == std::errc() && parsed.ptr == end;
}

template <typename T>
std::string RenderNumber(T value) {
  char text[64];
  return std::string(text, std::to_chars(text, text + sizeof(text), value).ptr);
}

// One pass over all keys of a profile. A Visitor has Number(key, value, low, high), Flag(key, value) and
// Choice(key, value, allowed). `P` is a const or plain MeasurementProfile.
template <typename Visitor, typename P>
void VisitKeys(Visitor& v, P& p) {
  v.Number("trials", p.trials, 1, 1000);
  v.Number("hidden_shape_trials", p.hidden_shape_trials, 0, 1000);
  v.Flag("hidden_distributions", p.hidden_distributions);
  v.Number("min_rounds", p.min_rounds, 0, 1e6);
  v.Number("max_rounds", p.max_rounds, 0, 1e6);
  v.Number("solo_rounds", p.solo_rounds, 0, 1e6);
  v.Number("starts", p.starts, 1, 64);
  v.Number("window_us", p.window, 10, 1e7);
  v.Number("target_half_width", p.target_half_width, 1e-6, 1);
  v.Number("confidence", p.confidence, 0.5, 0.999);
  v.Choice("cache", p.cache, {"cold", "hot"});
  v.Flag("random_order", p.random_order);
  v.Flag("measure_unstable_again", p.measure_unstable_again);
  v.Number("runtime_cap", p.runtime_cap, 1, 1e9);
  v.Number("load_timeout_ms", p.load_timeout, 1, kHourMs);
  v.Number("call_timeout_ms", p.call_timeout, 1, kHourMs);
  v.Number("total_budget_ms", p.total_budget, 1, 24 * kHourMs);
  v.Mebibytes("block_mib", p.block_bytes, 1, 1 << 20);
  v.Mebibytes("memory_mib", p.memory_bytes, 16, 1 << 20);
}

class Renderer {
 public:
  template <typename T>
  void Number(const char* key, const T& value, double, double) {
    if constexpr (std::is_arithmetic_v<T>) {
      Line(key, RenderNumber(value));
    } else {
      Line(key, RenderNumber(value.count()));
    }
  }
  void Mebibytes(const char* key, uint64_t bytes, double, double) { Line(key, RenderNumber(bytes / kMebibyte)); }
  void Flag(const char* key, bool value) { Line(key, value ? "true" : "false"); }
  void Choice(const char* key, const std::string& value, const std::set<std::string>&) { Line(key, value); }
  std::string Take() { return std::move(text_); }

 private:
  void Line(const std::string& key, const std::string& value) { text_ += key + ": " + value + "\n"; }
  std::string text_;
};

// Fills a profile from a YAML map and keeps the first thing that was wrong.
class Filler {
 public:
  Filler(const YAML::Node& map, const std::string& file) : map_(map), file_(file) {}

  template <typename T>
  void Number(const char* key, T& value, double low, double high) {
    if constexpr (std::is_arithmetic_v<T>) {
      Fill(key, value, low, high);
    } else {
      auto count = value.count();
      Fill(key, count, low, high);
      value = T(count);
    }
  }
  void Mebibytes(const char* key, uint64_t& bytes, double low, double high) {
    uint64_t count = bytes / kMebibyte;
    Fill(key, count, low, high);
    bytes = count * kMebibyte;
  }
  void Flag(const char* key, bool& value) {
    const YAML::Node node = Find(key);
    if (!node.IsDefined()) return;
    const std::string text = Scalar(node, key);
    if (text != "true" && text != "false") return Fail(node, key, "must be true or false");
    value = text == "true";
  }
  void Choice(const char* key, std::string& value, const std::set<std::string>& allowed) {
    const YAML::Node node = Find(key);
    if (!node.IsDefined()) return;
    const std::string text = Scalar(node, key);
    std::string names;
    for (const std::string& name : allowed) names += (names.empty() ? "" : " or ") + name;
    if (allowed.count(text) == 0) return Fail(node, key, "must be " + names);
    value = text;
  }

  // What several keys must fulfil together; `key` is the one to blame.
  void Require(bool condition, const char* key, const std::string& what) {
    if (!condition) Fail(Find(key), key, what);
  }

  Status Finish() {
    std::set<std::string> seen;
    for (const auto& item : map_) {
      const std::string key = item.first.IsScalar() ? item.first.Scalar() : "(not a word)";
      if (known_.count(key) == 0) Fail(item.first, key, "is not a key of a measurement profile");
      if (!seen.insert(key).second) Fail(item.first, key, "is there twice");
    }
    if (error_.empty()) return {};
    return Error(ErrorCode::kInvalidArgument, error_);
  }

 private:
  YAML::Node Find(const std::string& key) {
    known_.insert(key);
    return map_[key];
  }
  std::string Scalar(const YAML::Node& node, const char* key) {
    if (!node.IsScalar()) Fail(node, key, "must be one value");
    return node.IsScalar() ? node.Scalar() : "";
  }
  template <typename T>
  void Fill(const char* key, T& value, double low, double high) {
    const YAML::Node node = Find(key);
    if (!node.IsDefined()) return;
    const std::string text = Scalar(node, key);
    T parsed{};
    if (!ParseNumber(text, parsed)) {
      return Fail(node, key, std::is_integral_v<T> ? "must be an integer" : "must be a number");
    }
    const double number = static_cast<double>(parsed);
    if (!(number >= low && number <= high)) {
      return Fail(node, key, "must be between " + Shown(low) + " and " + Shown(high));
    }
    value = parsed;
  }
  void Fail(const YAML::Node& node, const std::string& key, const std::string& what) {
    const int line = node.IsDefined() ? node.Mark().line + 1 : 1;
    if (error_.empty()) error_ = file_ + ":" + std::to_string(line) + ": " + key + ": " + what;
  }

  const YAML::Node map_;
  const std::string file_;
  std::set<std::string> known_;
  std::string error_;
};

Result<MeasurementProfile> Fill(const YAML::Node& root, const std::string& name, const std::string& file) {
  if (!root.IsMap()) return Error(ErrorCode::kInvalidArgument, file + ":1: must be a map from keys to values");
  MeasurementProfile profile;
  profile.name = name;
  Filler filler(root, file);
  VisitKeys(filler, profile);
  filler.Require(profile.min_rounds <= profile.max_rounds, "max_rounds", "must not be below min_rounds");
  filler.Require((profile.min_rounds == 0) == (profile.max_rounds == 0), "min_rounds",
                 "0 rounds (correctness only) must be the minimum and the maximum");
  filler.Require(profile.max_rounds == 0 || profile.solo_rounds >= 30, "solo_rounds",
                 "must be at least 30 where rounds are timed");
  filler.Require(profile.max_rounds > 0 || profile.solo_rounds == 0, "solo_rounds", "must be 0 where rounds are 0");
  TOUCHSTONE_RETURN_IF_ERROR(filler.Finish());
  return profile;
}

Result<MeasurementProfile> LoadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.is_open() || file.bad()) return Error(ErrorCode::kNotFound, path + ": cannot be read");
  return ParseProfile(text, fs::path(path).stem().string(), path);
}

}  // namespace

Result<MeasurementProfile> ParseProfile(const std::string& yaml, const std::string& profile_name,
                                        const std::string& file_for_errors) {
  try {
    return Fill(YAML::Load(yaml), profile_name, file_for_errors);
  } catch (const YAML::Exception& e) {
    return Error(ErrorCode::kInvalidArgument, file_for_errors + ":" + std::to_string(e.mark.line + 1) + ": " + e.msg);
  }
}

std::string RenderProfile(const MeasurementProfile& profile) {
  Renderer renderer;
  VisitKeys(renderer, profile);
  return renderer.Take();
}

std::string DefaultConfigFolder() {
  if (const char* folder = std::getenv("TOUCHSTONE_CONFIGS"); folder != nullptr && *folder != '\0') return folder;
  std::error_code error;
  const fs::path program = ProgramFolder();
  for (const char* below : {"../share/touchstone/configs", "../../configs", "../../../configs"}) {
    const fs::path folder = (program / below).lexically_normal();
    if (fs::is_directory(folder / "measurement", error)) return folder.string();
  }
  return TOUCHSTONE_SOURCE_CONFIGS;
}

Result<MeasurementProfile> LoadProfile(const std::string& name_or_path) {
  if (name_or_path.find('/') != std::string::npos || fs::path(name_or_path).extension() == ".yaml") {
    return LoadFile(name_or_path);
  }
  const fs::path folder = fs::path(DefaultConfigFolder()) / "measurement";
  std::error_code error;
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".yaml") names.insert(entry.path().stem().string());
  }
  if (names.count(name_or_path) > 0) return LoadFile((folder / (name_or_path + ".yaml")).string());
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return Error(ErrorCode::kNotFound, "no measurement profile '" + name_or_path + "' in " + folder.string() +
                                         (list.empty() ? "" : "; there are: " + list));
}

}  // namespace touchstone
