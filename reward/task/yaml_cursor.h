// Strict reading of small YAML files: every error names the file, the line and the path of the key, and what would have
// been allowed. Nothing here throws.
#ifndef TOUCHSTONE_REWARD_TASK_YAML_CURSOR_H_
#define TOUCHSTONE_REWARD_TASK_YAML_CURSOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace touchstone {

inline constexpr size_t kMaxYamlBytes = size_t{1} << 20;

// One value of a file and where it stands. Cheap to copy; the file's tree lives as long as any cursor.
class YamlCursor {
 public:
  // `file` is only a name for errors.
  static Result<YamlCursor> Parse(const std::string& text, const std::string& file);

  // "configs/tasks/add.yaml:12: inputs[0].dtype: `what`".
  Error Fail(const std::string& what) const;

  bool IsMap() const;
  bool IsList() const;
  bool IsScalar() const;

  // The entries in the order of the file. A key that stands twice is an error.
  Result<std::vector<std::pair<std::string, YamlCursor>>> Map() const;
  Result<std::vector<YamlCursor>> List() const;

  Result<std::string> Text(size_t max_bytes) const;
  Result<int64_t> Integer(int64_t low, int64_t high) const;
  // A finite number in [low, high].
  Result<double> Number(double low, double high) const;
  Result<bool> Flag() const;

 private:
  struct Impl;
  explicit YamlCursor(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  Result<std::string> Scalar(const char* what) const;
  std::shared_ptr<const Impl> impl_;
};

// How one key of a map is read.
struct YamlField {
  std::string_view key;
  bool required = false;
  std::function<Status(const YamlCursor&)> read;
};

// Reads a map field by field, in the order of `fields` whatever the order in the file. Unknown and missing keys are
// errors.
Status ReadFields(const YamlCursor& map, const std::vector<YamlField>& fields);

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_TASK_YAML_CURSOR_H_
