#ifndef TOUCHSTONE_SANDBOX_BOX_BOX_H_
#define TOUCHSTONE_SANDBOX_BOX_BOX_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/box/layers.h"

namespace touchstone {

// How the first program of a box ended. Data, not an error; the first cause wins.
struct Outcome {
  enum class Kind : uint32_t {
    kExited = 0,     // code
    kSignalled = 1,  // signal
    // By us: Kill(), or the box died with its spawner. With out_of_memory: the kernel chose the box's init.
    kKilled = 2,
  };
  Kind kind = Kind::kKilled;
  int code = 0;
  int signal = 0;
  bool out_of_memory = false;  // the memory cgroup killed inside the box
  uint64_t cpu_time_us = 0;    // of all its processes, where the host counts it
  uint64_t peak_memory_bytes = 0;
  int leftover_processes = 0;  // processes that still lived when the first program had ended
  std::string ToString() const;
};

// The caller's hold on one box. One thread at a time. Its destruction kills the box and waits until all of its
// processes are gone.
class Box {
 public:
  // Descriptors that the spawner handed over; any but `end` may be missing.
  struct Handles {
    UniqueFd pidfd;          // of the box's first process on the host side (its init)
    UniqueFd end;            // becomes readable when the first program has ended, EOF when the box is gone
    UniqueFd freezer;        // cgroup.freeze (v2) or freezer.state (v1)
    UniqueFd freezer_state;  // cgroup.events (v2) or freezer.state (v1)
    UniqueFd cpu_usage;      // cpu.stat (v2) or cpuacct.usage (v1)
    UniqueFd stdout_fd;
    UniqueFd stderr_fd;
    UniqueFd artifacts;  // O_PATH of the box's /tmp, where mounts exist
    UniqueFd spawner;    // the spawner's reaper channel for this box
    bool freezer_v2 = false;
    bool cpu_usage_v2 = false;
    uint32_t id = 0;
    pid_t init_pid = 0;
    uid_t uid = 0;
    LayerSet layers;
  };
  explicit Box(Handles handles);
  ~Box();
  Box(Box&&) noexcept;
  Box& operator=(Box&&) noexcept;
  Box(const Box&) = delete;
  Box& operator=(const Box&) = delete;

  // Stops every process of the box and waits until the kernel confirms it. kUnavailable where the box has no freezer.
  Status Freeze();
  // Lets them run again; returns as soon as the kernel was told.
  Status Thaw();

  // SIGKILL for all of it; does not block.
  void Kill();
  // Blocks until the first program has ended or `timeout` has passed (then kDeadline, and the box lives on).
  Result<Outcome> Wait(std::chrono::milliseconds timeout);
  // Kills what is left and blocks until no process of the box exists and its cgroups and mounts are gone.
  Status Destroy();

  // CPU time that all processes of the box have used so far; nullopt where the host does not count it.
  std::optional<std::chrono::microseconds> CpuTime() const;
  // True once the first program has ended. Does not block; costs one system call.
  bool Ended() const;

  // A file that the program left in /tmp, as a sealed memfd: opened beneath /tmp without following links, regular, with
  // one link, at most `max_bytes`. Call after Wait().
  Result<UniqueFd> TakeArtifact(const std::string& relative_path, uint64_t max_bytes);

  int stdout_fd() const { return handles_.stdout_fd.get(); }
  int stderr_fd() const { return handles_.stderr_fd.get(); }
  int end_fd() const { return handles_.end.get(); }
  LayerSet layers() const { return handles_.layers; }
  uid_t uid() const { return handles_.uid; }
  pid_t init_pid() const { return handles_.init_pid; }

 private:
  // Waits for the spawner's word that no process of the box exists.
  Status AwaitGone(std::chrono::milliseconds timeout);

  Handles handles_;
  std::optional<Outcome> outcome_;
  bool gone_ = false;
  Outcome usage_;  // what was counted, once gone_
};

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BOX_BOX_H_
