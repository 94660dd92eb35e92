#include "env/serve/config.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <sstream>

namespace touchstone {
namespace {

// Each option once; `v` reads or lists.
template <typename V, typename C>
void Fields(V& v, C& c) {
  v("server.endpoint", c.server.endpoint);
  v("server.health_endpoint", c.server.health_endpoint);
  v("server.metrics_address", c.server.metrics_address);
  v("server.secret_key_file", c.server.secret_key_file);
  v("server.allowed_clients_file", c.server.allowed_clients_file);
  v("server.max_message_bytes", c.server.limits.max_message_bytes, 1024, 1 << 30);
  v("server.max_source_bytes", c.server.limits.max_source_bytes, 1024, 1 << 30);
  v("server.max_in_flight", c.server.max_in_flight, 1, 1'000'000);
  v("server.retry_after_ms", c.server.retry_after, 1, 3'600'000);
  v("server.max_kept_results", c.server.max_kept_results, 1, 100'000'000);
  v("server.drain_ms", c.drain, 0, 3'600'000);
  v("environment.task_folder", c.environment.task_folder);
  v("environment.method_folder", c.environment.method_folder);
  v("environment.idle_limit_s", c.environment.idle_limit, 1, 31'536'000);
  v("environment.max_sessions", c.environment.max_sessions, 1, 100'000'000);
  v("store.folder", c.store.folder);
  v("store.max_batch", c.store.max_batch, 1, 100'000);
  v("store.max_waiting", c.store.max_waiting, 1, 100'000'000);
  v("store.min_free_bytes", c.store.min_free_bytes, 0, int64_t{1} << 60);
  v("slots.count", c.slots.count, 0, 4096);
  v("slots.cores_per_slot", c.slots.cores_per_slot, 1, 4096);
  v("slots.untimed", c.slots.untimed, 0, 4096);
  v("slots.untimed_cores", c.slots.untimed_cores, 0, 4096);
  v("slots.cpus", c.slots.cpus);
  v("slots.level", c.slots.level, {"full", "reduced", "none"});
  v("slots.cache_folder", c.slots.cache_folder);
  v("slots.calibration_file", c.slots.calibration_file);
  v("slots.max_waiting", c.slots.max_waiting, 1, 1'000'000);
}

struct Given {
  std::vector<std::string> items;
  bool is_list = false;
  std::string where;  // "node.yaml:3"
};

class Reader {
 public:
  explicit Reader(std::map<std::string, Given> given) : given_(std::move(given)) {}

  void operator()(const char* key, std::string& value) {
    if (const Given* given = Take(key)) value = given->items[0];
  }
  void operator()(const char* key, std::string& value, std::initializer_list<const char*> choices) {
    const Given* given = Take(key);
    if (given == nullptr) return;
    std::string list;
    for (const char* choice : choices) {
      if (given->items[0] == choice) return void(value = choice);
      list += std::string(list.empty() ? "" : ", ") + choice;
    }
    Fail(key, *given, "must be one of " + list);
  }
  template <typename T>
  void operator()(const char* key, T& value, int64_t low, int64_t high) {
    const Given* given = Take(key);
    if (given == nullptr) return;
    int64_t number = 0;
    if (!ParseNumber(given->items[0], number)) return Fail(key, *given, "is not an integer");
    if (number < low || number > high) {
      return Fail(key, *given, "must be between " + std::to_string(low) + " and " + std::to_string(high));
    }
    value = T(number);
  }
  void operator()(const char* key, std::vector<int>& values) {
    const auto found = given_.find(key);
    if (found == given_.end()) return;
    const Given given = found->second;
    given_.erase(found);
    values.clear();
    for (const std::string& item : given.items) {
      int64_t number = 0;
      if (!ParseNumber(item, number) || number < 0 || number > 65'535)
        return Fail(key, given, "is not a list of cores");
      values.push_back(static_cast<int>(number));
    }
  }

  Status Finish() {
    if (!error_.has_value() && !given_.empty()) {
      const auto& [key, given] = *given_.begin();
      error_ = Error(ErrorCode::kInvalidArgument, given.where + ": " + key + ": there is no such option");
    }
    if (error_.has_value()) return *error_;
    return {};
  }

 private:
  static bool ParseNumber(const std::string& text, int64_t& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
  }
  void Fail(const std::string& key, const Given& given, const std::string& what) {
    if (!error_.has_value()) error_ = Error(ErrorCode::kInvalidArgument, given.where + ": " + key + ": " + what);
  }
  // Null: not given, or a list.
  const Given* Take(const char* key) {
    const auto found = given_.find(key);
    if (found == given_.end()) return nullptr;
    taken_ = std::move(found->second);
    given_.erase(found);
    if (!taken_.is_list) return &taken_;
    Fail(key, taken_, "is a list");
    return nullptr;
  }

  std::map<std::string, Given> given_;
  Given taken_;
  std::optional<Error> error_;
};

class Lister {
 public:
  template <typename T, typename... Rest>
  void operator()(const char* key, const T& value, Rest&&...) {
    std::ostringstream text;
    if constexpr (std::is_same_v<T, std::vector<int>>) {
      for (const int item : value) text << (&item == value.data() ? "" : ",") << item;
    } else if constexpr (requires { value.count(); }) {
      text << value.count();
    } else {
      text << value;
    }
    options.emplace_back(key, text.str());
  }
  void operator()(const char* key, const std::string& value, std::initializer_list<const char*>) {
    options.emplace_back(key, value);
  }
  std::vector<std::pair<std::string, std::string>> options;
};

Error At(const std::string& where, const std::string& what) {
  return Error(ErrorCode::kInvalidArgument, where + ": " + what);
}

// "section.key" → what was given for it.
Result<std::map<std::string, Given>> Flatten(const std::string& yaml, const std::string& file) {
  std::map<std::string, Given> flat;
  try {
    const YAML::Node root = YAML::Load(yaml);
    const auto where = [&](const YAML::Node& node) { return file + ":" + std::to_string(node.Mark().line + 1); };
    if (root.IsNull()) return flat;
    if (!root.IsMap()) return At(file, "is not a map of sections");
    for (const auto& section : root) {
      const auto name = section.first.as<std::string>();
      if (!section.second.IsMap()) return At(where(section.first), name + ": is not a map of options");
      for (const auto& option : section.second) {
        const std::string key = name + "." + option.first.as<std::string>();
        Given given{{}, option.second.IsSequence(), where(option.first)};
        if (option.second.IsScalar()) given.items = {option.second.as<std::string>()};
        if (given.is_list) given.items = option.second.as<std::vector<std::string>>();
        if (!given.is_list && !option.second.IsScalar())
          return At(given.where, key + ": is neither a value nor a list");
        if (!flat.emplace(key, given).second) return At(given.where, key + ": is there twice");
      }
    }
  } catch (const YAML::Exception& error) {
    return At(file + ":" + std::to_string(error.mark.line + 1), error.msg);
  }
  return flat;
}

Status Apply(const std::string& setting, std::map<std::string, Given>& flat) {
  const size_t equals = setting.find('=');
  if (equals == std::string::npos) return At("--set " + setting, "is not key=value");
  Given given{{setting.substr(equals + 1)}, false, "--set"};
  const std::string key = setting.substr(0, equals);
  if (key == "slots.cpus") {
    std::istringstream items(given.items[0]);
    given.items.clear();
    given.is_list = true;
    for (std::string item; std::getline(items, item, ',');) given.items.push_back(item);
  }
  flat[key] = given;
  return {};
}

}  // namespace

Result<ServeConfig> ParseServeConfig(const std::string& yaml, const std::string& file_for_errors,
                                     const std::vector<std::string>& settings) {
  TOUCHSTONE_ASSIGN(auto flat, Flatten(yaml, file_for_errors));
  for (const std::string& setting : settings) TOUCHSTONE_RETURN_IF_ERROR(Apply(setting, flat));
  ServeConfig config;
  Reader reader(std::move(flat));
  Fields(reader, config);
  TOUCHSTONE_RETURN_IF_ERROR(reader.Finish());
  config.environment.max_source_bytes = config.server.limits.max_source_bytes;
  return config;
}

Result<ServeConfig> LoadServeConfig(const std::string& file, const std::vector<std::string>& settings) {
  if (file.empty()) return ParseServeConfig("", "", settings);
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return Error(ErrorCode::kNotFound, "no configuration " + file);
  const std::string yaml((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  return ParseServeConfig(yaml, file, settings);
}

std::vector<std::pair<std::string, std::string>> ListOptions(const ServeConfig& config) {
  Lister lister;
  Fields(lister, config);
  return std::move(lister.options);
}

Result<std::vector<SlotSpec>> PlanSlots(const SlotPlan& plan, const std::vector<int>& available) {
  const auto invalid = [](const std::string& what) { return Error(ErrorCode::kInvalidArgument, what); };
  for (const int cpu : plan.cpus) {
    if (std::find(available.begin(), available.end(), cpu) == available.end()) {
      return invalid("slots.cpus: core " + std::to_string(cpu) + " is not one that this process may use");
    }
  }
  std::vector<int> cpus = plan.cpus.empty() ? available : plan.cpus;
  std::sort(cpus.begin(), cpus.end());
  if (std::adjacent_find(cpus.begin(), cpus.end()) != cpus.end()) return invalid("slots.cpus: a core is there twice");
  if (cpus.empty()) return invalid("slots.cpus: there is no core");

  const auto total = static_cast<int>(cpus.size());
  const int shared = plan.untimed == 0 ? 0 : plan.untimed_cores > 0 ? plan.untimed_cores : plan.untimed;
  const int each = std::min(plan.cores_per_slot, std::max(1, total - shared));
  const int count = plan.count > 0 ? plan.count : std::max(1, (total - shared) / each);
  if (count * each + shared > total) {
    return invalid("slots: " + std::to_string(count) + " of " + std::to_string(each) + " cores and " +
                   std::to_string(shared) + " shared ones are more than the " + std::to_string(total) + " there are");
  }
  std::vector<SlotSpec> slots;
  auto next = cpus.begin();
  for (int i = 0; i < count; ++i, next += each) {
    slots.push_back({"cpu" + std::to_string(i), std::vector<int>(next, next + each), false});
  }
  const std::vector<int> common(cpus.end() - shared, cpus.end());
  for (int i = 0; i < plan.untimed; ++i) slots.push_back({"untimed" + std::to_string(i), common, true});
  return slots;
}

}  // namespace touchstone
