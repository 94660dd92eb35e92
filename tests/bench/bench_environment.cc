// What the environment itself costs: steps with an evaluator that answers at once, and the memory of open sessions.
// One JSON object on standard output.
#include <malloc.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
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

double StepMicroseconds(Environment& environment, int steps) {
  const std::string source(2000, 'x');
  std::string session;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < steps; ++i) {
    if (i % 1000 == 0) session = Open(environment, i);
    StepRequest request;
    request.key = {"bench", std::to_string(i)};
    request.session = session;
    request.action.source = source;
    environment.Step(std::move(request),
                     [](const Result<StepReply>& reply) { TOUCHSTONE_CHECK(reply.ok(), reply.error().ToString()); });
  }
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / steps;
}

double BytesOfASession(Environment& environment, int sessions) {
  const size_t before = ::mallinfo2().uordblks;
  for (int i = 0; i < sessions; ++i) Open(environment, 1'000'000 + i);
  return static_cast<double>(::mallinfo2().uordblks - before) / sessions;
}

int Main() {
  NullEvaluations evaluations;
  auto environment = Environment::Create({}, evaluations, nullptr, nullptr);
  TOUCHSTONE_CHECK(environment.ok(), environment.error().ToString());
  const double step_us = StepMicroseconds(**environment, 50'000);
  const nlohmann::json report = {{"environment_step_us", step_us},
                                 {"session_bytes", BytesOfASession(**environment, 20'000)}};
  std::puts(report.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace touchstone

int main() { return touchstone::Main(); }
