// The two pages by which a judge commands a runner (design: V5).
//
// The judge writes the command page and the runner can only read it (F_SEAL_FUTURE_WRITE). The runner writes the answer
// page; every byte of it may come from hostile code, so the judge copies what it needs once and checks it. The judge
// never reads back what it wrote. Apart from these pages a runner has its block (inputs and outputs), and a control
// socket on which the artifact arrives before any candidate code is loaded.
//
// One command: the judge fills the fields, stores `doorbell` = n (release) and wakes it; the runner does the work,
// writes its answer, stores `done` = n (release) and wakes it. A ping is a command without work.
#ifndef TOUCHSTONE_SANDBOX_RUNNER_PROTOCOL_H_
#define TOUCHSTONE_SANDBOX_RUNNER_PROTOCOL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace touchstone {

inline constexpr uint32_t kRunnerMagic = 0x54435331;  // "TCS1"
inline constexpr uint32_t kRunnerVersion = 1;

// Descriptors of every runner.
inline constexpr int kCommandFd = 3;
inline constexpr int kAnswerFd = 4;
inline constexpr int kBlockFd = 5;
inline constexpr int kControlFd = 6;

inline constexpr uint32_t kMaxTensors = 24;
inline constexpr uint32_t kMaxRank = 8;
inline constexpr uint32_t kMaxDims = 16;
inline constexpr uint32_t kMaxCalls = 8192;
inline constexpr uint32_t kMaxPlaces = 8192;

enum class Opcode : uint32_t {
  kNone = 0,
  kLoad = 1,    // take the artifact from the control socket and load it
  kRun = 2,     // `calls` calls, the i-th on set order[i]
  kOracle = 3,  // reference runners only: one call on set order[0] in float64, outputs into the arena
  kExit = 4,
  kPing = 5,  // answer at once
  kNull = 6,  // `calls` calls of an empty function: what the calling itself costs
};

enum class RunnerStatus : uint32_t { kOk = 0, kLoadError = 1, kRuntimeError = 2, kUnsupported = 3 };

enum class TensorRole : uint32_t { kInput = 0, kOutput = 1, kInOut = 2 };

// Where tensor t of set s lies: block + s * set_stride + offset. Dense, row-major.
struct TensorPlace {
  uint64_t offset;
  uint64_t bytes;
  uint32_t dtype;
  uint32_t role;
  uint32_t rank;
  uint32_t reserved;
  int64_t dims[kMaxRank];
};

struct CommandPage {
  uint32_t magic;
  uint32_t version;
  std::atomic<uint32_t> doorbell;
  std::atomic<uint32_t> spin;  // 1: after a ping wait for the doorbell by spinning; 0: sleep in the kernel
  uint32_t opcode;
  uint32_t calls;
  uint32_t tensor_count;
  uint32_t dim_count;
  uint32_t threads;
  uint64_t block_bytes;
  uint64_t set_stride;
  // Runners that allocate their outputs themselves (Torch) do so only between these offsets of the block.
  uint64_t arena_offset;
  uint64_t arena_bytes;
  int64_t dims[kMaxDims];
  TensorPlace tensors[kMaxTensors];
  uint32_t order[kMaxCalls];
};

// Where an output of a call lies, as a runner with an arena says. It only points; the judge checks it (design: V3).
struct OutputPlace {
  uint64_t offset;  // from the start of the block
  uint32_t dtype;
  uint32_t rank;
  int64_t dims[kMaxRank];
  int64_t strides[kMaxRank];  // in elements
};

struct AnswerPage {
  std::atomic<uint32_t> done;
  uint32_t status;       // RunnerStatus
  uint32_t failed_call;  // index into order[], for kRuntimeError
  uint32_t place_count;  // calls × outputs for runners with an arena, 0 for the others
  char message[2048];    // for people; zero-terminated or not
  OutputPlace places[kMaxPlaces];
};

static_assert(std::atomic<uint32_t>::is_always_lock_free);
static_assert(offsetof(CommandPage, tensors) % 8 == 0);

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_RUNNER_PROTOCOL_H_
