#include "env/episode/task_text.h"

#include <charconv>
#include <utility>

#include "base/dtype.h"

namespace touchstone {
namespace {

// As short as it can be and still the same number.
std::string Shown(double value) {
  char text[64];
  return std::string(text, std::to_chars(text, text + sizeof(text), value).ptr);
}

std::string Code(const std::string& text) { return "`" + text + "`"; }

std::string TypeOf(const TensorSpec& tensor) {
  std::string lengths;
  for (const std::string& length : tensor.shape) lengths += (lengths.empty() ? "" : ", ") + length;
  return std::string(ToString(tensor.dtype)) + "[" + lengths + "]";
}

std::string Bound(double number, const std::string& expression) {
  return expression.empty() ? Shown(number) : expression;
}

std::string Describe(const Distribution& d) {
  using Family = Distribution::Family;
  std::string text;
  switch (d.family) {
    case Family::kUniform:
      text = "uniform in [" + Bound(d.low, d.low_expression) + ", " + Bound(d.high, d.high_expression) + ")";
      break;
    case Family::kNormal:
      text = "normal, mean " + Shown(d.low) + ", standard deviation " + Shown(d.high);
      break;
    case Family::kInteger:
      text = "integers from " + Bound(d.low, d.low_expression) + " to below " + Bound(d.high, d.high_expression);
      break;
    case Family::kBernoulli:
      text = "1 with probability " + Shown(d.low) + ", else 0";
      break;
    case Family::kPermutation:
      text = "each row a permutation of its indices";
      break;
    case Family::kConstant:
      text = "all " + Shown(d.low);
      break;
  }
  if (d.zero_share > 0) text += "; " + Shown(d.zero_share) + " of the elements are 0";
  return text;
}

std::string Describe(const Tolerance& tolerance) {
  std::string text;
  if (tolerance.rtol > 0 && tolerance.atol > 0) {
    text = "each element within " + Shown(tolerance.atol) + " + " + Shown(tolerance.rtol) + " × |expected|";
  } else if (tolerance.rtol > 0) {
    text = "each element within " + Shown(tolerance.rtol) + " × |expected|";
  } else if (tolerance.atol > 0) {
    text = "each element within " + Shown(tolerance.atol);
  } else {
    text = "exact";
  }
  if (tolerance.rms > 0) {
    text += ", and the root mean square error at most " + Shown(tolerance.rms) + " of the expected root mean square";
  }
  return text;
}

std::string Arrays(const Task& task) {
  std::string text;
  for (const TensorSpec& input : task.inputs) {
    text += "- " + Code(input.name) + ": " + TypeOf(input) + ", " + (input.in_place ? "read and overwritten" : "read") +
            "; values: " + Describe(input.distribution) + "\n";
  }
  for (const OutputSpec& output : task.outputs) {
    text += "- " + Code(output.tensor.name) + ": " + TypeOf(output.tensor) +
            (output.tensor.in_place ? ", after the call" : ", written") + "; " + Describe(output.tolerance) + "\n";
  }
  return text;
}

std::string Rules(const Task& task, const DimValues& dims) {
  std::string shown;
  for (const auto& [name, value] : dims) shown += (shown.empty() ? "" : ", ") + name + " = " + std::to_string(value);
  std::string text = "- Timed with " + shown + ". Other lengths and other values are tried, too, and must be right.\n";
  text += "- Every call has new inputs, and every output is checked, those of timed calls included.\n";
  text += "- Arrays are dense and row-major. Write to nothing but the outputs.\n";
  text += task.policy.threads == 1 ? "- One thread.\n"
                                   : "- Up to " + std::to_string(task.policy.threads) + " threads at once.\n";
  text += task.policy.openmp ? "- OpenMP is switched on.\n" : "- There is no OpenMP.\n";
  if (task.policy.deterministic) text += "- Two calls on equal inputs must give equal bits.\n";
  return text;
}

}  // namespace

Result<TaskText> RenderTaskText(const Task& task, const std::string& size, const std::string& interface_name,
                                const std::map<std::string, std::string>& device) {
  TOUCHSTONE_ASSIGN(const DimValues dims, task.Size(size));
  TaskText text;
  text.task = task.id;
  text.statement = "# " + task.title + "\n\n" + task.description + (task.description.ends_with('\n') ? "" : "\n") +
                   "\n## Arrays\n\n" + Arrays(task) + "\n## Rules\n\n" + Rules(task, dims);
  text.interface_name = interface_name;
  text.signature = RenderCppSignature(task);
  text.header = RenderCppHeader(task);
  text.reference = task.reference;
  text.device = device;
  return text;
}

Result<std::shared_ptr<const TaskText>> TaskTexts::Get(const Task& task, const std::string& size,
                                                       const std::string& interface_name,
                                                       const std::map<std::string, std::string>& device) {
  // Lengths in front make the joined key unique.
  std::string key;
  const auto add = [&key](const std::string& part) { key += std::to_string(part.size()) + ":" + part; };
  add(task.content_hash);
  add(task.id);
  add(size);
  add(interface_name);
  for (const auto& [name, value] : device) {
    add(name);
    add(value);
  }
  {
    const MutexLock lock(mutex_);
    if (const auto known = texts_.find(key); known != texts_.end()) return known->second;
  }
  TOUCHSTONE_ASSIGN(TaskText rendered, RenderTaskText(task, size, interface_name, device));
  auto text = std::make_shared<const TaskText>(std::move(rendered));
  const MutexLock lock(mutex_);
  return texts_.emplace(std::move(key), std::move(text)).first->second;
}

}  // namespace touchstone
