#include "sandbox/runner/torch/torch_handler.h"

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <optional>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/memfd.h"
#include "sandbox/runner/torch/arena_allocator.h"

namespace touchstone {
namespace {

constexpr size_t kMaxSourceBytes = size_t{1} << 20;
constexpr char kFunction[] = "reference";

constexpr std::pair<DType, at::ScalarType> kTypes[] = {
    {DType::kFloat32, at::kFloat},
    {DType::kFloat64, at::kDouble},
    {DType::kFloat16, at::kHalf},
    {DType::kBFloat16, at::kBFloat16},
    {DType::kInt8, at::kChar},
    {DType::kInt16, at::kShort},
    {DType::kInt32, at::kInt},
    {DType::kInt64, at::kLong},
    {DType::kUInt8, at::kByte},
    {DType::kBool, at::kBool},
    {DType::kFloat8E4M3, at::kFloat8_e4m3fn},
    {DType::kFloat8E5M2, at::kFloat8_e5m2},
};

at::ScalarType ToTorch(uint32_t dtype) {
  for (const auto& [ours, theirs] : kTypes) {
    if (static_cast<uint32_t>(ours) == dtype) return theirs;
  }
  TORCH_CHECK(false, "the command names dtype ", dtype, ", which is none");
}

uint32_t FromTorch(at::ScalarType type) {
  for (const auto& [ours, theirs] : kTypes) {
    if (theirs == type) return static_cast<uint32_t>(ours);
  }
  TORCH_CHECK(false, "an output has type ", type, ", which no task can have");
}

class TorchHandler final : public RunnerHandler {
 public:
  TorchHandler() {
    ArenaAllocator::Instance();
    // LibTorch takes this once in the life of a process.
    [[maybe_unused]] static const bool set = [] { return at::set_num_interop_threads(1), true; }();
  }

  RunnerStatus Load(int artifact_fd, const CommandPage& command, std::string* message) override {
    const auto source = ReadAll(artifact_fd, kMaxSourceBytes);
    if (!source.ok()) {
      *message = source.error().ToString();
      return RunnerStatus::kLoadError;
    }
    return Guard(RunnerStatus::kLoadError, message, [&] {
      SetThreads(command);
      outputs_.clear();
      function_ = nullptr;
      unit_.emplace(*source);
      function_ = unit_->find_function(c10::QualifiedName(kFunction));
      TORCH_CHECK(function_ != nullptr, "the source does not define `", kFunction, "`");
    });
  }

  RunnerStatus Run(const CommandPage& command, std::byte* block, AnswerPage& answer, std::string* message) override {
    return Guard(RunnerStatus::kRuntimeError, message, [&] {
      Begin(command, block, answer);
      for (uint32_t call = 0; call < command.calls; ++call) {
        answer.failed_call = call;
        const size_t first = outputs_.size();
        Call(command, Arguments(command, block + command.order[call] * command.set_stride));
        Report(block, answer, first);
      }
    });
  }

  RunnerStatus Oracle(const CommandPage& command, std::byte* block, AnswerPage& answer, std::string* message) override {
    return Guard(RunnerStatus::kRuntimeError, message, [&] {
      std::vector<at::Tensor> arguments = Arguments(command, block + command.order[0] * command.set_stride);
      for (at::Tensor& argument : arguments) {
        argument = argument.to(argument.is_floating_point() ? at::kDouble : argument.scalar_type(),
                               /*non_blocking=*/false, /*copy=*/true);
      }
      Begin(command, block, answer);
      answer.failed_call = 0;
      size_t argument = 0;
      for (uint32_t t = 0; t < command.tensor_count; ++t) {
        const auto role = static_cast<TensorRole>(command.tensors[t].role);
        if (role == TensorRole::kOutput) continue;
        if (role == TensorRole::kInOut) outputs_.push_back(arguments[argument]);
        ++argument;
      }
      Call(command, std::move(arguments));
      Report(block, answer, 0);
    });
  }

  RunnerStatus Null(const CommandPage& command, std::byte* block) override {
    std::string ignored;
    return Guard(RunnerStatus::kRuntimeError, &ignored, [&] {
      for (uint32_t call = 0; call < command.calls; ++call) {
        Arguments(command, block + command.order[call] * command.set_stride);
      }
    });
  }

 private:
  // LibTorch throws; here that ends. Also sets the modes that hold for everything a handler does: no gradients, and an
  // executor that runs the graph as it is, so that the tenth call costs what the first did.
  template <typename Work>
  RunnerStatus Guard(RunnerStatus failure, std::string* message, const Work& work) {
    try {
      const c10::InferenceMode inference;
      const torch::jit::GraphOptimizerEnabledGuard as_written(false);
      work();
      ArenaAllocator::Instance().Close();
      return RunnerStatus::kOk;
    } catch (const c10::Error& e) {
      *message = e.what_without_backtrace();
    } catch (const std::exception& e) {
      *message = e.what();
    }
    ArenaAllocator::Instance().Close();
    return failure;
  }

  static void SetThreads(const CommandPage& command) {
    const int threads = command.threads > 0 ? static_cast<int>(command.threads) : 1;
    if (at::get_num_threads() != threads) at::set_num_threads(threads);
  }

  void Begin(const CommandPage& command, std::byte* block, AnswerPage& answer) {
    TORCH_CHECK(function_ != nullptr, "nothing is loaded");
    SetThreads(command);
    outputs_.clear();
    answer.place_count = 0;
    TORCH_CHECK(ArenaAllocator::Instance().Open(block + command.arena_offset, command.arena_bytes),
                "the reference keeps tensors of an earlier call");
  }

  // Views of the inputs of one set.
  static std::vector<at::Tensor> Arguments(const CommandPage& command, std::byte* set) {
    std::vector<at::Tensor> arguments;
    arguments.reserve(command.tensor_count);
    for (uint32_t t = 0; t < command.tensor_count; ++t) {
      const TensorPlace& place = command.tensors[t];
      if (static_cast<TensorRole>(place.role) == TensorRole::kOutput) continue;
      arguments.push_back(
          at::from_blob(set + place.offset, at::IntArrayRef(place.dims, place.rank), at::dtype(ToTorch(place.dtype))));
    }
    return arguments;
  }

  // Appends what the reference returns to outputs_.
  void Call(const CommandPage& command, std::vector<at::Tensor> arguments) {
    torch::jit::Stack stack;
    stack.reserve(arguments.size() + command.dim_count);
    for (at::Tensor& argument : arguments) stack.emplace_back(std::move(argument));
    for (uint32_t d = 0; d < command.dim_count; ++d) stack.emplace_back(command.dims[d]);
    function_->run(stack);
    const at::IValue result = stack.empty() ? at::IValue() : std::move(stack.back());
    if (result.isTensor()) {
      outputs_.push_back(result.toTensor());
    } else if (result.isTuple()) {
      for (const at::IValue& element : result.toTupleRef().elements()) outputs_.push_back(element.toTensor());
    } else {
      TORCH_CHECK(result.isNone(), "`reference` must return tensors, not ", result.tagKind());
    }
  }

  // Puts the places of outputs_[first …] into the answer, after copying into the arena what lies elsewhere.
  void Report(std::byte* block, AnswerPage& answer, size_t first) {
    TORCH_CHECK(outputs_.size() <= kMaxPlaces, "more than ", kMaxPlaces, " outputs in one command");
    for (size_t i = first; i < outputs_.size(); ++i) {
      at::Tensor& output = outputs_[i];
      TORCH_CHECK(output.dim() <= static_cast<int64_t>(kMaxRank), "an output has ", output.dim(), " dims");
      const ArenaAllocator& arena = ArenaAllocator::Instance();
      if (!arena.Contains(output.const_data_ptr()) || !output.is_non_overlapping_and_dense()) {
        at::Tensor copy = at::empty(output.sizes(), output.options());
        TORCH_CHECK(copy.numel() == 0 || arena.Contains(copy.const_data_ptr()), "the arena is full");
        copy.copy_(output);
        output = std::move(copy);
      }
      OutputPlace& place = answer.places[i];
      place.offset = static_cast<uint64_t>(static_cast<const std::byte*>(output.const_data_ptr()) - block);
      place.dtype = FromTorch(output.scalar_type());
      place.rank = static_cast<uint32_t>(output.dim());
      for (int64_t axis = 0; axis < output.dim(); ++axis) {
        place.dims[axis] = output.size(axis);
        place.strides[axis] = output.stride(axis);
      }
    }
    answer.place_count = static_cast<uint32_t>(outputs_.size());
  }

  std::optional<torch::jit::CompilationUnit> unit_;
  torch::jit::Function* function_ = nullptr;
  std::vector<at::Tensor> outputs_;  // of the last command, in the order of the places
};

}  // namespace

std::unique_ptr<RunnerHandler> MakeTorchHandler() { return std::make_unique<TorchHandler>(); }

}  // namespace touchstone
