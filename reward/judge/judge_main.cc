// touchstone-judge: the trusted process of one slot.
#include <nlohmann/json.hpp>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <optional>

#include "base/channel.h"
#include "base/memfd.h"
#include "reward/judge/judge_wire.h"
#include "reward/judge/slot.h"

namespace touchstone {
namespace {

void PinTo(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  ::sched_setaffinity(0, sizeof(set), &set);
}

nlohmann::json Answer(Slot& slot, const nlohmann::json& document, const std::vector<UniqueFd>& fds) {
  auto request = JudgeRequestFromJson(document);
  if (!request.ok()) return {{"error", request.error().message()}, {"invalid", true}};
  if (fds.empty()) return {{"error", "no artifact came"}, {"invalid", true}};
  request->artifact = fds[0].get();
  request->baseline_artifact = fds.size() > 1 ? fds[1].get() : -1;
  auto result = slot.Evaluate(*request);
  if (!result.ok()) {
    return {{"error", result.error().message()}, {"invalid", result.error().code() == ErrorCode::kInvalidArgument}};
  }
  return {{"result", ToJson(*result)}};
}

}  // namespace

int JudgeMain(int channel, int spawner_connection) {
  // Nobody but root may look into it, and it does not outlive who asks it.
  ::prctl(PR_SET_DUMPABLE, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGPIPE, SIG_IGN);
  auto hello = ReceiveDocument(channel, std::chrono::seconds(30), nullptr);
  if (!hello.ok()) return 3;
  auto options = JudgeOptionsFromJson(*hello);
  if (!options.ok() || options->cpus.empty()) return 3;
  PinTo(options->cpus.front());
  Slot slot(*options, Spawner::Adopt(UniqueFd(spawner_connection)));
  while (true) {
    std::vector<UniqueFd> fds;
    auto document = ReceiveDocument(channel, std::chrono::milliseconds(-1), &fds);
    if (!document.ok()) return document.error().code() == ErrorCode::kUnavailable ? 0 : 3;
    if (!SendDocument(channel, Answer(slot, *document, fds), {}).ok()) return 0;
  }
}

}  // namespace touchstone

int main() { return touchstone::JudgeMain(3, 4); }
