// Answers what the Python checks ask: one line of JSON in, one line of JSON out, until the input ends. A `compare`
// question is followed by the bytes of both arrays.
#include <nlohmann/json.hpp>

#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "reward/verdict/compare.h"
#include "reward/verdict/statistics.h"

namespace touchstone {
namespace {

using nlohmann::json;

std::string ReadBytes(size_t size) {
  std::string bytes(size, '\0');
  std::cin.read(bytes.data(), static_cast<std::streamsize>(size));
  if (static_cast<size_t>(std::cin.gcount()) != size) throw std::runtime_error("the arrays end early");
  return bytes;
}

json AnswerCompare(const json& question) {
  const DType dtype = DTypeFromString(question.at("dtype").get<std::string>()).value();
  const DType expected_dtype = DTypeFromString(question.at("expected_dtype").get<std::string>()).value();
  const size_t count = question.at("count").get<size_t>();
  const std::string actual = ReadBytes(count * SizeOf(dtype));
  const std::string expected = ReadBytes(count * SizeOf(expected_dtype));
  const Tolerance tolerance{question.at("rtol"), question.at("atol"), question.at("rms")};
  const CompareReport r = Compare(dtype, actual.data(), expected_dtype, expected.data(), count, tolerance);
  return {{"count", r.count},
          {"mismatches", r.mismatches},
          {"nonfinite_mismatches", r.nonfinite_mismatches},
          {"first_mismatch", r.first_mismatch},
          {"max_abs", r.max_abs},
          {"max_rel", r.max_rel},
          {"rms_error", r.rms_error},
          {"rms_expected", r.rms_expected},
          {"rms_exceeded", r.rms_exceeded},
          {"passed", r.passed()}};
}

std::vector<StartRounds> StartsOf(const json& question) {
  std::vector<StartRounds> starts;
  for (const json& start : question.at("starts")) {
    StartRounds& rounds = starts.emplace_back();
    for (const json& round : start) rounds.push_back({round.at(0), round.at(1)});
  }
  return starts;
}

json AnswerSpeedup(const json& question) {
  const SpeedupEstimate e = EstimateSpeedup(StartsOf(question), {.confidence = question.at("confidence"),
                                                                 .between_start_sd = question.at("between_start_sd"),
                                                                 .resamples = question.at("resamples"),
                                                                 .seed = question.at("seed")});
  return {{"speedup", e.speedup},
          {"lower", e.lower},
          {"upper", e.upper},
          {"half_width", e.half_width},
          {"standard_error", e.standard_error},
          {"within_start_sd", e.within_start_sd},
          {"between_start_sd", e.between_start_sd},
          {"autocorrelation", e.autocorrelation},
          {"interval_stated", e.interval_stated},
          {"reason", e.reason}};
}

json Answer(const json& question) {
  const std::string ask = question.at("ask");
  if (ask == "compare") return AnswerCompare(question);
  if (ask == "speedup") return AnswerSpeedup(question);
  if (ask == "between_start_sd") return BetweenStartSd(StartsOf(question));
  throw std::runtime_error("unknown question " + ask);
}

}  // namespace
}  // namespace touchstone

int main() {
  try {
    for (std::string line; std::getline(std::cin, line);) {
      std::cout << touchstone::Answer(nlohmann::json::parse(line)).dump() << std::endl;
    }
  } catch (const std::exception& e) {
    std::cerr << "verdict_probe: " << e.what() << "\n";
    return 1;
  }
  return 0;
}
