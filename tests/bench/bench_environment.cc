// What the environment itself costs: steps with an evaluator that answers at once, and the memory of open sessions.
// Rows of scripts/bench on standard output.
#include <malloc.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <utility>

#include "env/env.h"

namespace touchstone {
namespace {

// Every candidate is twice as fast.
class NullEvaluations final : public Evaluations {
 public:
  Status Submit(EvaluationJob job) override {
    EvalResult result;
    result.status = EvalStatus::kSuccess;
    result.task = job.task->id;
    result.rewarded_speedup = 2;
    result.rewarded_lower_bound = 1.9;
    job.done(std::move(result));
    return {};
  }
  bool Cancel(const RequestKey&) override { return false; }
  std::map<std::string, std::string> DeviceFacts() const override { return {{"cpu", "none"}, {"cores", "0"}}; }
};

std::string Open(Environment& environment, int number) {
  ResetRequest request;
  request.key = {"bench", "reset " + std::to_string(number)};
  request.tasks = {"softmax"};
  request.max_turns = 1000;
  auto reply = environment.Reset(request);
  TOUCHSTONE_CHECK(reply.ok(), reply.error().ToString());
  return reply->session;
}

// Processor time of this process: what else runs on the machine does not count.
double CpuMicroseconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

double StepMicroseconds(Environment& environment, int steps) {
  const std::string source(2000, 'x');
  std::string session;
  const double start = CpuMicroseconds();
  for (int i = 0; i < steps; ++i) {
    if (i % 1000 == 0) session = Open(environment, i);
    StepRequest request;
    request.key = {"bench", std::to_string(i)};
    request.session = session;
    request.action.source = source;
    environment.Step(std::move(request),
                     [](const Result<StepReply>& reply) { TOUCHSTONE_CHECK(reply.ok(), reply.error().ToString()); });
  }
  return (CpuMicroseconds() - start) / steps;
}

double BytesOfASession(Environment& environment, int sessions) {
  const size_t before = ::mallinfo2().uordblks;
  for (int i = 0; i < sessions; ++i) Open(environment, 1'000'000 + i);
  return static_cast<double>(::mallinfo2().uordblks - before) / sessions;
}

nlohmann::json Row(const char* id, double value, bool ok) { return {{"id", id}, {"value", value}, {"ok", ok}}; }

int Main() {
  NullEvaluations evaluations;
  auto environment = Environment::Create({}, evaluations, nullptr, nullptr);
  TOUCHSTONE_CHECK(environment.ok(), environment.error().ToString());
  const double step_us = StepMicroseconds(**environment, 50'000);
  const double session_bytes = BytesOfASession(**environment, 20'000);
  const bool ok = step_us <= 20 && session_bytes <= 4096;
  const nlohmann::json rows = {Row("environment_step_us/step", step_us, step_us <= 20),
                               Row("environment_step_us/session_bytes", session_bytes, session_bytes <= 4096)};
  std::puts(rows.dump(1).c_str());
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace touchstone

int main() { return touchstone::Main(); }
