// From YAML to a Task. docs/writing-tasks.md is the schema for people; what stands there is checked here.
#include <algorithm>
#include <set>

#include "base/hash.h"
#include "reward/task/catalog.h"
#include "reward/task/tensor_yaml.h"
#include "reward/task/yaml_cursor.h"
#include "sandbox/runner/protocol.h"

namespace touchstone {
namespace {

constexpr size_t kMaxTextBytes = 16 * 1024;
constexpr size_t kMaxReferenceBytes = 64 * 1024;
constexpr size_t kMaxSizes = 16;
constexpr size_t kMaxHiddenDistributions = 16;
constexpr int64_t kMaxDim = int64_t{1} << 40;

// Names of the reference's parameters, types and defaults cut off; empty when there is no such function.
std::vector<std::string> ReferenceParameters(const std::string& source) {
  const std::string head = "def reference(";
  const size_t at = source.find(head);
  if (at == std::string::npos || (at > 0 && source[at - 1] != '\n')) return {};
  const size_t begin = at + head.size();
  const size_t end = source.find(')', begin);
  if (end == std::string::npos) return {};
  std::vector<std::string> names;
  std::string name;
  bool done = false;
  for (size_t i = begin; i <= end; ++i) {
    const char c = source[i];
    if (c == ',' || c == ')') {
      if (!name.empty()) names.push_back(name);
      name.clear();
      done = false;
    } else if (c == ':' || c == '=') {
      done = true;
    } else if (!done && c != ' ' && c != '\n') {
      name += c;
    }
  }
  return names;
}

class TaskReader {
 public:
  explicit TaskReader(const YamlCursor& root) : root_(root) {}

  Result<Task> Read() {
    const auto text = [](std::string* out, size_t limit) {
      return [=](const YamlCursor& cursor) -> Status {
        TOUCHSTONE_ASSIGN(*out, cursor.Text(limit));
        return {};
      };
    };
    const auto part = [this](Status (TaskReader::*read)(const YamlCursor&)) {
      return [this, read](const YamlCursor& cursor) { return (this->*read)(cursor); };
    };
    TOUCHSTONE_RETURN_IF_ERROR(ReadFields(root_, {{"id", true,
                                                   [this](const YamlCursor& cursor) -> Status {
                                                     TOUCHSTONE_ASSIGN(task_.id, ReadName(cursor));
                                                     return {};
                                                   }},
                                                  {"title", true, text(&task_.title, 200)},
                                                  {"description", true, text(&task_.description, kMaxTextBytes)},
                                                  {"dims", true, part(&TaskReader::ReadDims)},
                                                  {"sizes", true, part(&TaskReader::ReadSizes)},
                                                  {"inputs", true, part(&TaskReader::ReadInputs)},
                                                  {"outputs", true, part(&TaskReader::ReadOutputs)},
                                                  {"reference", true, part(&TaskReader::ReadReference)},
                                                  {"policy", false, part(&TaskReader::ReadPolicy)},
                                                  {"floor", false, part(&TaskReader::ReadFloor)},
                                                  {"hidden", false, part(&TaskReader::ReadHidden)}}));
    return std::move(task_);
  }

 private:
  Result<std::string> ReadNewName(const YamlCursor& cursor) {
    TOUCHSTONE_ASSIGN(std::string name, ReadName(cursor));
    if (!names_.insert(name).second) return cursor.Fail("'" + name + "' is used twice among dims, inputs and outputs");
    return name;
  }

  Status ReadDims(const YamlCursor& cursor) {
    TOUCHSTONE_ASSIGN(const auto items, cursor.List());
    if (items.empty() || items.size() > kMaxDims) {
      return cursor.Fail(std::to_string(items.size()) + " dims; 1 to " + std::to_string(kMaxDims) + " are possible");
    }
    for (const YamlCursor& item : items) {
      TOUCHSTONE_ASSIGN(std::string name, ReadNewName(item));
      task_.dims.push_back(std::move(name));
    }
    return {};
  }

  Status ReadSizes(const YamlCursor& cursor) {
    TOUCHSTONE_ASSIGN(const auto sizes, cursor.Map());
    if (sizes.empty() || sizes.size() > kMaxSizes) {
      return cursor.Fail(std::to_string(sizes.size()) + " sizes; 1 to " + std::to_string(kMaxSizes) + " are possible");
    }
    for (const auto& [name, size] : sizes) {
      DimValues values;
      for (const std::string& dim : task_.dims) values.emplace_back(dim, 0);
      std::vector<YamlField> fields;
      for (auto& entry : values) {
        fields.push_back({entry.first, true, [&entry](const YamlCursor& value) -> Status {
                            TOUCHSTONE_ASSIGN(entry.second, value.Integer(1, kMaxDim));
                            return {};
                          }});
      }
      TOUCHSTONE_RETURN_IF_ERROR(ReadFields(size, fields));
      task_.sizes[name] = std::move(values);
    }
    return {};
  }

  // Calls `check` with every named size, and with the corners of the hidden shapes once these are known.
  Status ForEachSize(const YamlCursor& cursor, const std::function<Status(const DimValues&)>& check) const {
    for (const auto& [name, values] : task_.sizes) {
      if (auto status = check(values); !status.ok()) {
        return cursor.Fail(status.error().message() + " (size '" + name + "')");
      }
      if (task_.hidden_shapes.empty()) continue;
      for (const bool high : {false, true}) {
        DimValues corner = values;
        for (auto& [dim, value] : corner) {
          for (const HiddenDim& hidden : task_.hidden_shapes) {
            if (hidden.dim == dim) value = high ? hidden.high : hidden.low;
          }
        }
        if (auto status = check(corner); !status.ok()) {
          return cursor.Fail(status.error().message() + (high ? " (largest" : " (smallest") + " hidden shape)");
        }
      }
    }
    return {};
  }

  Status CheckTensor(const YamlCursor& cursor, const TensorSpec& tensor) const {
    return ForEachSize(cursor, [&tensor](const DimValues& dims) -> Status {
      TOUCHSTONE_ASSIGN(const auto shape, EvaluateShape(tensor, dims));
      if (tensor.distribution.family == Distribution::Family::kPermutation && shape.empty()) {
        return Error(ErrorCode::kInvalidArgument, "a permutation needs at least one axis");
      }
      TOUCHSTONE_ASSIGN(const auto distribution, Resolve(tensor.distribution, dims));
      return {};
    });
  }

  Status ReadInputs(const YamlCursor& cursor) {
    TOUCHSTONE_ASSIGN(const auto items, cursor.List());
    if (items.empty()) return cursor.Fail("at least one input is needed");
    for (const YamlCursor& item : items) {
      TensorSpec input;
      TOUCHSTONE_RETURN_IF_ERROR(ReadFields(item, {{"name", true,
                                                    [&](const YamlCursor& value) -> Status {
                                                      TOUCHSTONE_ASSIGN(input.name, ReadNewName(value));
                                                      return {};
                                                    }},
                                                   {"dtype", true,
                                                    [&](const YamlCursor& value) -> Status {
                                                      TOUCHSTONE_ASSIGN(input.dtype, ReadDType(value));
                                                      return {};
                                                    }},
                                                   {"shape", true,
                                                    [&](const YamlCursor& value) -> Status {
                                                      TOUCHSTONE_ASSIGN(input.shape, ReadShape(value));
                                                      return {};
                                                    }},
                                                   {"distribution", true,
                                                    [&](const YamlCursor& value) -> Status {
                                                      TOUCHSTONE_ASSIGN(input.distribution,
                                                                        ReadDistribution(value, input.dtype));
                                                      return {};
                                                    }},
                                                   {"in_place", false, [&](const YamlCursor& value) -> Status {
                                                      TOUCHSTONE_ASSIGN(input.in_place, value.Flag());
                                                      return {};
                                                    }}}));
      TOUCHSTONE_RETURN_IF_ERROR(CheckTensor(item, input));
      task_.inputs.push_back(std::move(input));
    }
    return {};
  }

  // An output that repeats the name of an in-place input takes its type from there.
  Result<OutputSpec> ReadOutput(const YamlCursor& item) {
    OutputSpec output;
    TensorSpec& tensor = output.tensor;
    Tolerance& tolerance = output.tolerance;
    bool typed = false;
    bool tolerated = false;
    std::optional<YamlCursor> name_cursor;
    TOUCHSTONE_RETURN_IF_ERROR(ReadFields(item, {{"name", true,
                                                  [&](const YamlCursor& value) -> Status {
                                                    name_cursor = value;
                                                    TOUCHSTONE_ASSIGN(tensor.name, ReadName(value));
                                                    return {};
                                                  }},
                                                 {"dtype", false,
                                                  [&](const YamlCursor& value) -> Status {
                                                    typed = true;
                                                    TOUCHSTONE_ASSIGN(tensor.dtype, ReadDType(value));
                                                    return {};
                                                  }},
                                                 {"shape", false,
                                                  [&](const YamlCursor& value) -> Status {
                                                    typed = true;
                                                    TOUCHSTONE_ASSIGN(tensor.shape, ReadShape(value));
                                                    return {};
                                                  }},
                                                 {"tolerance", false, [&](const YamlCursor& value) -> Status {
                                                    tolerated = true;
                                                    return ReadFields(
                                                        value, {NumberField("rtol", false, 0, 1, &tolerance.rtol),
                                                                NumberField("atol", false, 0, kHuge, &tolerance.atol),
                                                                NumberField("rms", false, 0, 1, &tolerance.rms)});
                                                  }}}));
    const auto input = std::find_if(task_.inputs.begin(), task_.inputs.end(),
                                    [&tensor](const TensorSpec& spec) { return spec.name == tensor.name; });
    if (input != task_.inputs.end()) {
      if (!input->in_place) return item.Fail("'" + tensor.name + "' is an input that is not in_place");
      if (typed) return item.Fail("dtype and shape of an in-place output stand at the input");
      tensor = *input;
    } else {
      TOUCHSTONE_ASSIGN(tensor.name, ReadNewName(*name_cursor));
      if (!typed) return item.Fail("key 'dtype' or 'shape' is missing");
    }
    if (!tolerated && IsFloating(tensor.dtype)) return item.Fail("key 'tolerance' is missing");
    TOUCHSTONE_RETURN_IF_ERROR(CheckTensor(item, tensor));
    return output;
  }

  Status ReadOutputs(const YamlCursor& cursor) {
    TOUCHSTONE_ASSIGN(const auto items, cursor.List());
    if (items.empty()) return cursor.Fail("at least one output is needed");
    for (const YamlCursor& item : items) {
      TOUCHSTONE_ASSIGN(OutputSpec output, ReadOutput(item));
      task_.outputs.push_back(std::move(output));
    }
    // One order for everybody who numbers outputs, runners included: they do not know the task.
    std::vector<std::string> in_place;
    for (const TensorSpec& input : task_.inputs) {
      if (input.in_place) in_place.push_back(input.name);
    }
    for (size_t i = 0; i < std::max(in_place.size(), task_.outputs.size()); ++i) {
      const bool here = i < task_.outputs.size() && task_.outputs[i].tensor.in_place;
      if (i < in_place.size() ? !here || task_.outputs[i].tensor.name != in_place[i] : here) {
        return cursor.Fail("in-place inputs must come first, each once, in the order of the inputs");
      }
    }
    const size_t tensors = task_.inputs.size() + task_.outputs.size() - in_place.size();
    if (tensors > kMaxTensors) {
      return cursor.Fail(std::to_string(tensors) + " tensors, the limit is " + std::to_string(kMaxTensors));
    }
    return {};
  }

  Status ReadReference(const YamlCursor& cursor) {
    TOUCHSTONE_ASSIGN(task_.reference, cursor.Text(kMaxReferenceBytes));
    std::vector<std::string> wanted;
    for (const TensorSpec& input : task_.inputs) wanted.push_back(input.name);
    wanted.insert(wanted.end(), task_.dims.begin(), task_.dims.end());
    if (ReferenceParameters(task_.reference) == wanted) return {};
    std::string list;
    for (const std::string& name : wanted) list += (list.empty() ? "" : ", ") + name;
    return cursor.Fail("must define `def reference(" + list + ")`, the dims with type int");
  }

  Status ReadPolicy(const YamlCursor& cursor) {
    return ReadFields(cursor, {{"threads", false,
                                [this](const YamlCursor& value) -> Status {
                                  TOUCHSTONE_ASSIGN(const int64_t threads, value.Integer(1, 1024));
                                  task_.policy.threads = static_cast<int>(threads);
                                  return {};
                                }},
                               {"openmp", false,
                                [this](const YamlCursor& value) -> Status {
                                  TOUCHSTONE_ASSIGN(task_.policy.openmp, value.Flag());
                                  return {};
                                }},
                               {"deterministic", false, [this](const YamlCursor& value) -> Status {
                                  TOUCHSTONE_ASSIGN(task_.policy.deterministic, value.Flag());
                                  return {};
                                }}});
  }

  Status ReadFloor(const YamlCursor& cursor) {
    const auto expression = [this](std::string* out) {
      return [this, out](const YamlCursor& value) -> Status {
        TOUCHSTONE_ASSIGN(*out, value.Text(kMaxExpressionBytes));
        return ForEachSize(value, [out](const DimValues& dims) -> Status {
          TOUCHSTONE_ASSIGN(const int64_t amount, Evaluate(*out, dims));
          if (amount < 0) return Error(ErrorCode::kInvalidArgument, "is " + std::to_string(amount) + ", must be ≥ 0");
          return {};
        });
      };
    };
    return ReadFields(
        cursor, {{"bytes", false, expression(&task_.floor_bytes)}, {"flops", false, expression(&task_.floor_flops)}});
  }

  Status ReadHiddenShapes(const YamlCursor& cursor) {
    TOUCHSTONE_ASSIGN(const auto entries, cursor.Map());
    for (const auto& [dim, range] : entries) {
      if (std::find(task_.dims.begin(), task_.dims.end(), dim) == task_.dims.end()) {
        return range.Fail("no dim '" + dim + "'");
      }
      HiddenDim hidden;
      hidden.dim = dim;
      const auto integer = [](std::string_view key, bool required, int64_t* out) {
        return YamlField{key, required, [out](const YamlCursor& value) -> Status {
                           TOUCHSTONE_ASSIGN(*out, value.Integer(1, kMaxDim));
                           return {};
                         }};
      };
      TOUCHSTONE_RETURN_IF_ERROR(
          ReadFields(range, {integer("low", true, &hidden.low), integer("high", true, &hidden.high),
                             integer("multiple", false, &hidden.multiple)}));
      if (hidden.low > hidden.high) return range.Fail("low is above high");
      if (hidden.low % hidden.multiple != 0 || hidden.high % hidden.multiple != 0) {
        return range.Fail("low and high must be multiples of " + std::to_string(hidden.multiple));
      }
      task_.hidden_shapes.push_back(std::move(hidden));
    }
    for (const TensorSpec& input : task_.inputs) TOUCHSTONE_RETURN_IF_ERROR(CheckTensor(cursor, input));
    for (const OutputSpec& output : task_.outputs) TOUCHSTONE_RETURN_IF_ERROR(CheckTensor(cursor, output.tensor));
    return {};
  }

  Status ReadHiddenDistributions(const YamlCursor& cursor) {
    TOUCHSTONE_ASSIGN(const auto items, cursor.List());
    if (items.size() > kMaxHiddenDistributions) {
      return cursor.Fail(std::to_string(items.size()) + " distributions, the limit is " +
                         std::to_string(kMaxHiddenDistributions));
    }
    for (const YamlCursor& item : items) {
      std::map<std::string, Distribution> replacements;
      TOUCHSTONE_ASSIGN(const auto entries, item.Map());
      for (const auto& [name, value] : entries) {
        const auto input = std::find_if(task_.inputs.begin(), task_.inputs.end(),
                                        [&name = name](const TensorSpec& spec) { return spec.name == name; });
        if (input == task_.inputs.end()) return value.Fail("no input '" + name + "'");
        TensorSpec replaced = *input;
        TOUCHSTONE_ASSIGN(replaced.distribution, ReadDistribution(value, input->dtype));
        TOUCHSTONE_RETURN_IF_ERROR(CheckTensor(value, replaced));
        replacements[name] = replaced.distribution;
      }
      if (replacements.empty()) return item.Fail("names no input");
      task_.hidden_distributions.push_back(std::move(replacements));
    }
    return {};
  }

  Status ReadHidden(const YamlCursor& cursor) {
    return ReadFields(
        cursor, {{"shapes", false, [this](const YamlCursor& value) { return ReadHiddenShapes(value); }},
                 {"distributions", false, [this](const YamlCursor& value) { return ReadHiddenDistributions(value); }}});
  }

  const YamlCursor& root_;
  Task task_;
  std::set<std::string> names_;
};

}  // namespace

Result<Task> ParseTask(const std::string& yaml, const std::string& name_for_errors) {
  TOUCHSTONE_ASSIGN(const YamlCursor root, YamlCursor::Parse(yaml, name_for_errors));
  TOUCHSTONE_ASSIGN(Task task, TaskReader(root).Read());
  task.source_file = name_for_errors;
  task.content_hash = HashHex(yaml);
  return task;
}

}  // namespace touchstone
