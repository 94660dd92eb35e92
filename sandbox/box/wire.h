// Requests and replies between a client and the spawner, as bytes. Both ends are ours and of one version.
#ifndef TOUCHSTONE_SANDBOX_BOX_WIRE_H_
#define TOUCHSTONE_SANDBOX_BOX_WIRE_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sandbox/box/layers.h"
#include "sandbox/box/policy.h"

namespace touchstone {

// The first byte of every message.
enum class MessageKind : char {
  kHello = 'H',       // spawner → client, once: it is ready
  kStart = 'S',       // client → spawner: StartRequest, with the program's descriptors
  kConnect = 'C',     // client → spawner: a new connection, please
  kConnection = 'N',  // spawner → client: here it is (one descriptor)
  kStarted = 'B',     // spawner → client: StartReply, with the descriptors that `present` names
  kError = 'E',       // spawner → client
  kKill = 'K',        // client → spawner, on a box's own channel
  kGone = 'G',        // spawner → client, on a box's own channel: GoneReport
};

// What one box needs. Goes from the client to the spawner, and on to the process that becomes the box.
struct StartRequest {
  Policy policy;
  Limits limits;
  Program program;
  uint32_t fd_count = 0;
};

// The order of the descriptors in a kStarted message; absent ones are left out.
enum class HandleIndex : uint32_t {
  kPidfd,
  kEnd,
  kFreezer,
  kFreezerState,
  kCpuUsage,
  kStdout,
  kStderr,
  kArtifacts,
  kChannel,
};

struct StartReply {
  uint32_t id = 0;
  pid_t init_pid = 0;
  uid_t uid = 0;
  LayerSet layers;
  uint32_t present = 0;  // bits of HandleIndex
  bool freezer_v2 = false;
  bool cpu_usage_v2 = false;
};

// Sent when no process of a box exists any more.
struct GoneReport {
  bool out_of_memory = false;
  uint64_t cpu_time_us = 0;
  uint64_t peak_memory_bytes = 0;
  int leftover_processes = 0;
};

// Written by the box's init into the `end` pipe when the first program has ended. Less than PIPE_BUF: atomic.
struct EndRecord {
  int32_t wait_status = 0;
  int32_t leftover_processes = 0;
};

std::string EncodeStart(const StartRequest& request);
std::string EncodeStarted(const StartReply& reply);
std::string EncodeGone(const GoneReport& report);
std::string EncodeError(const Error& error);

// These take the whole message, its kind included. kInvalidArgument when it is not what the name says.
Result<StartRequest> DecodeStart(std::string_view bytes);
Result<StartReply> DecodeStarted(std::string_view bytes);
Result<GoneReport> DecodeGone(std::string_view bytes);
// The error that an kError message carries.
Error DecodeError(std::string_view bytes);

inline bool IsKind(std::string_view bytes, MessageKind kind) {
  return !bytes.empty() && bytes[0] == static_cast<char>(kind);
}

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BOX_WIRE_H_
