// The honest kernels pass every check of their task, and every mutant fails one: on the declared size, on hidden shapes
// and on hidden distributions, as the judge would try them.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <utility>

#include "base/minifloat.h"
#include "reward/task/admission.h"
#include "reward/task/catalog.h"
#include "tests/reward/task/torch_port.h"

namespace touchstone {
namespace {

constexpr SecretKey kKey = {7, 7, 7};
constexpr int kHiddenShapes = 3;

struct Kernel {
  std::string kind;  // "honest", "control", "mutant", "types"
  std::string name;
  std::string task;
};

std::vector<Kernel> Kernels(const std::string& kind) {
  std::vector<Kernel> kernels;
  std::ifstream list(TOUCHSTONE_KERNELS "/list.txt");
  std::string path;
  std::string task;
  while (list >> path >> task) {
    const size_t slash = path.find('/');
    if (path.substr(0, slash) == kind) kernels.push_back({kind, path.substr(slash + 1), task});
  }
  return kernels;
}

// Inputs of two calls and what the oracle says about them.
struct Trial {
  std::string name;
  DimValues dims;
  std::array<std::vector<TensorData>, 2> inputs;
  std::array<std::vector<TensorData>, 2> oracle;
};

std::vector<DimValues> HiddenShapes(const Task& task) {
  std::mt19937 random(11);
  std::vector<DimValues> shapes;
  for (int i = 0; i < kHiddenShapes; ++i) {
    DimValues dims = task.Size("cpu").value();
    for (auto& [dim, value] : dims) {
      for (const HiddenDim& hidden : task.hidden_shapes) {
        if (hidden.dim != dim) continue;
        const auto steps = static_cast<uint64_t>((hidden.high - hidden.low) / hidden.multiple + 1);
        value = hidden.low + static_cast<int64_t>(random() % steps) * hidden.multiple;
      }
    }
    shapes.push_back(dims);
  }
  return shapes;
}

Trial MakeTrial(const Task& task, const std::string& name, const DimValues& dims,
                const std::map<std::string, Distribution>& replacements) {
  Trial trial{name, dims, {}, {}};
  TorchPort port(ReferenceDriver::BlockBytes(task, dims).value());
  auto driver = ReferenceDriver::Create(task, dims, port);
  EXPECT_TRUE(driver.ok());
  for (uint64_t call = 0; call < 2; ++call) {
    trial.inputs[call] = driver->MakeInputs(kKey, call, replacements).value();
    driver->Store(0, trial.inputs[call]);
    trial.oracle[call] = driver->Oracle(0).value();
  }
  return trial;
}

const std::vector<Trial>& TrialsOf(const Task& task) {
  static std::map<std::string, std::vector<Trial>> all;
  std::vector<Trial>& trials = all[task.id];
  if (!trials.empty()) return trials;
  for (const DimValues& dims : HiddenShapes(task)) trials.push_back(MakeTrial(task, "hidden shape", dims, {}));
  trials.push_back(MakeTrial(task, "declared", task.Size("cpu").value(), {}));
  for (const auto& replacements : task.hidden_distributions) {
    trials.push_back(MakeTrial(task, "hidden distribution of " + replacements.begin()->first, task.Size("cpu").value(),
                               replacements));
  }
  return trials;
}

// Calls a kernel with pointers and dims, all of which are of the integer class.
class Library {
 public:
  explicit Library(const Kernel& kernel)
      : handle_(::dlopen((TOUCHSTONE_KERNELS "/" + kernel.kind + "/" + kernel.name + ".so").c_str(), RTLD_NOW)) {
    if (handle_ == nullptr) ADD_FAILURE() << ::dlerror();
    run_ = Symbol("run");
  }
  ~Library() {
    if (handle_ != nullptr) ::dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // Null where there is none.
  void* Symbol(const char* name) const { return handle_ == nullptr ? nullptr : ::dlsym(handle_, name); }

  // Outputs in the order of the task.
  std::vector<TensorData> Call(const Task& task, const Trial& trial, size_t call) const {
    std::vector<TensorData> tensors = trial.inputs[call];
    std::vector<TensorData> outputs;
    std::array<uint64_t, 16> arguments{};
    size_t used = 0;
    for (TensorData& tensor : tensors) arguments[used++] = reinterpret_cast<uint64_t>(tensor.bytes.data());
    outputs.reserve(task.outputs.size());
    for (size_t o = 0; o < task.outputs.size(); ++o) {
      if (task.outputs[o].tensor.in_place) continue;
      TensorData& output = outputs.emplace_back();
      output.dtype = task.outputs[o].tensor.dtype;
      output.dims = trial.oracle[call][o].dims;
      output.bytes.assign(trial.oracle[call][o].count() * SizeOf(output.dtype), std::byte{kPoison});
      arguments[used++] = reinterpret_cast<uint64_t>(output.bytes.data());
    }
    for (const auto& [dim, value] : trial.dims) arguments[used++] = static_cast<uint64_t>(value);
    const auto& a = arguments;
    using Run = void (*)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                         uint64_t, uint64_t, uint64_t);
    reinterpret_cast<Run>(run_)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
    std::vector<TensorData> result;
    for (size_t i = 0; i < task.inputs.size(); ++i) {
      if (task.inputs[i].in_place) result.push_back(std::move(tensors[i]));
    }
    for (TensorData& output : outputs) result.push_back(std::move(output));
    return result;
  }

 private:
  void* handle_;
  void* run_ = nullptr;
};

// The worst share of a tolerance that the kernel uses over the two calls of a trial; more than 1 is a failed check.
double Worst(const Task& task, const Library& library, const Trial& trial) {
  double worst = 0;
  for (size_t call = 0; call < 2; ++call) {
    const std::vector<TensorData> outputs = library.Call(task, trial, call);
    for (size_t o = 0; o < outputs.size(); ++o) {
      worst = std::max(worst, ToleranceUsed(outputs[o], trial.oracle[call][o], task.outputs[o].tolerance));
    }
  }
  return worst;
}

void ExpectRight(const std::vector<Kernel>& kernels) {
  for (const Kernel& kernel : kernels) {
    const Task task = FindTask(kernel.task).value();
    const Library library(kernel);
    double worst = 0;
    for (const Trial& trial : TrialsOf(task)) {
      // Honest arithmetic in the declared precision must not come near the edge, in any order of summation.
      const double share = Worst(task, library, trial);
      EXPECT_LE(share, 0.5) << kernel.name << ", " << trial.name;
      worst = std::max(worst, share);
    }
    ::testing::Test::RecordProperty(kernel.kind + "_" + kernel.name, std::to_string(worst));
  }
}

TEST(Kernels, HonestOnesPassWithMargin) {
  const auto kernels = Kernels("honest");
  EXPECT_GE(kernels.size(), 35u + 16u);
  ExpectRight(kernels);
}

TEST(Kernels, SourcesOfTheMutantsPassWithoutMutation) {
  const auto kernels = Kernels("control");
  EXPECT_EQ(kernels.size(), 35u);
  ExpectRight(kernels);
}

// What the rendered header gives candidates converts as the judge does.
template <typename Narrow, typename Widen>
void ExpectConversions(DType dtype, const Narrow& narrow, const Widen& widen) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const float value = DecodeMinifloat(dtype, bits);
    const float got = widen(static_cast<uint16_t>(bits));
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(got)) << bits;
      continue;
    }
    ASSERT_EQ(got, value) << bits;
    // The value itself, the middle between it and its neighbour (a tie), and what lies next to that.
    const auto next = static_cast<double>(DecodeMinifloat(dtype, bits ^ 1));
    const auto middle = static_cast<float>((static_cast<double>(value) + next) / 2);
    for (const float x : {value, middle, std::nextafter(middle, 0.0F), std::nextafter(middle, 2 * middle)}) {
      if (std::isnan(x)) continue;
      ASSERT_EQ(narrow(x), EncodeMinifloat(dtype, x)) << x;
    }
  }
  EXPECT_TRUE(std::isnan(widen(narrow(std::nanf("")))));
  EXPECT_EQ(narrow(std::numeric_limits<float>::max()), EncodeMinifloat(dtype, INFINITY));
}

TEST(Kernels, SixteenBitTypesConvertAsTheJudgeDoes) {
  const auto kernels = Kernels("types");
  ASSERT_EQ(kernels.size(), 2u);
  for (const Kernel& kernel : kernels) {
    SCOPED_TRACE(kernel.name);
    const Library library(kernel);
    const auto narrow = reinterpret_cast<uint16_t (*)(float)>(library.Symbol("narrow"));
    const auto widen = reinterpret_cast<float (*)(uint16_t)>(library.Symbol("widen"));
    ASSERT_TRUE(narrow != nullptr && widen != nullptr);
    ExpectConversions(DTypeFromString(kernel.name).value(), narrow, widen);
  }
}

TEST(Kernels, EveryMutantFails) {
  const auto kernels = Kernels("mutant");
  EXPECT_GE(kernels.size(), 280u);
  for (const Kernel& kernel : kernels) {
    const Task task = FindTask(kernel.task).value();
    const Library library(kernel);
    double worst = 0;
    for (const Trial& trial : TrialsOf(task)) {
      worst = std::max(worst, Worst(task, library, trial));
      if (worst > 1) break;
    }
    EXPECT_GT(worst, 1) << kernel.name;
  }
}

}  // namespace
}  // namespace touchstone
