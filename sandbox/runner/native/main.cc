// touchstone-runner-cpp: loads a shared object and calls its `run` on the sets of its block. No Torch, no BLAS.
#include <dlfcn.h>

#include <array>
#include <string>
#include <type_traits>
#include <utility>

#include "sandbox/runner/kill_filter.h"
#include "sandbox/runner/serve.h"

namespace touchstone {
namespace {

// Pointers and int64 dims are all of the integer class, so one function type for each number of arguments will do.
constexpr size_t kMaxArguments = kMaxTensors + kMaxDims;
using Arguments = std::array<uint64_t, kMaxArguments>;
using Caller = void (*)(void* function, const Arguments& arguments);

template <size_t... I>
void CallWith(void* function, const Arguments& arguments, std::index_sequence<I...>) {
  using Function = void (*)(std::remove_cvref_t<decltype(arguments[I])>...);
  reinterpret_cast<Function>(function)(arguments[I]...);
}

template <size_t N>
void Call(void* function, const Arguments& arguments) {
  CallWith(function, arguments, std::make_index_sequence<N>());
}

template <size_t... N>
constexpr std::array<Caller, sizeof...(N)> MakeCallers(std::index_sequence<N...>) {
  return {&Call<N>...};
}

constexpr auto kCallers = MakeCallers(std::make_index_sequence<kMaxArguments + 1>());

void EmptyKernel() {}

class NativeHandler final : public RunnerHandler {
 public:
  RunnerStatus Load(int artifact_fd, const CommandPage&, std::string* message) override {
    const std::string path = "/proc/self/fd/" + std::to_string(artifact_fd);
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      *message = ::dlerror();
      return RunnerStatus::kLoadError;
    }
    run_ = ::dlsym(library, "run");
    if (run_ == nullptr) {
      *message = "the library does not export `run`";
      return RunnerStatus::kLoadError;
    }
    return RunnerStatus::kOk;
  }

  RunnerStatus Run(const CommandPage& command, std::byte* block, AnswerPage&, std::string* message) override {
    if (run_ == nullptr) {
      *message = "nothing is loaded";
      return RunnerStatus::kRuntimeError;
    }
    CallAll(run_, command, block);
    return RunnerStatus::kOk;
  }

  RunnerStatus Null(const CommandPage& command, std::byte* block) override {
    CallAll(reinterpret_cast<void*>(&EmptyKernel), command, block);
    return RunnerStatus::kOk;
  }

 private:
  static void CallAll(void* function, const CommandPage& command, std::byte* block) {
    const uint32_t tensors = command.tensor_count;
    const uint32_t dims = command.dim_count;
    const Caller caller = kCallers[tensors + dims];
    Arguments arguments{};
    for (uint32_t d = 0; d < dims; ++d) arguments[tensors + d] = static_cast<uint64_t>(command.dims[d]);
    for (uint32_t call = 0; call < command.calls; ++call) {
      std::byte* set = block + command.order[call] * command.set_stride;
      for (uint32_t t = 0; t < tensors; ++t) {
        arguments[t] = reinterpret_cast<uint64_t>(set + command.tensors[t].offset);
      }
      caller(function, arguments);
    }
  }

  void* run_ = nullptr;
};

}  // namespace
}  // namespace touchstone

int main() {
  (void)touchstone::RefuseSendingSigkill();
  touchstone::NativeHandler handler;
  return touchstone::ServeRunner(handler);
}
