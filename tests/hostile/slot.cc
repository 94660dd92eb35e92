#include "tests/hostile/slot.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "sandbox/box/spawner.h"
#include "sandbox/build/build.h"

namespace touchstone {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

}  // namespace

CacheFolder::CacheFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "touchstone-hostile-XXXXXX").string();
  const char* made = ::mkdtemp(pattern.data());
  TOUCHSTONE_CHECK(made != nullptr, "a folder for the cache");
  path_ = made;
}

CacheFolder::~CacheFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string CandidateSource(const std::string& file) {
  const std::string folder = TOUCHSTONE_HOSTILE_SOURCES;
  std::string source = ReadFile(folder + "/" + file + ".cc");
  constexpr std::string_view kInclude = "#include \"attack.h\"\n";
  if (const size_t at = source.find(kInclude); at != std::string::npos) {
    source.replace(at, kInclude.size(), ReadFile(folder + "/attack.h"));
  }
  return source;
}

EvaluatorOptions SlotOptions(const CacheFolder& cache) {
  EvaluatorOptions options;
  options.program_folder = TOUCHSTONE_BIN;
  options.build.cache_folder = cache.path();
  // Bombs need not burn for long.
  options.build.timeout = std::chrono::seconds(30);
  options.build.memory_bytes = uint64_t{512} << 20;
  options.build.artifact_bytes = uint64_t{16} << 20;
  options.between_start_sd = 0.01;
  return options;
}

MeasurementProfile TestProfile(bool timed) {
  auto profile = LoadProfile(TOUCHSTONE_HOSTILE_PROFILE);
  TOUCHSTONE_CHECK(profile.ok(), profile.error().message());
  if (!timed) {
    profile->min_rounds = 0;
    profile->max_rounds = 0;
    profile->solo_rounds = 0;
  }
  return *profile;
}

EvalRequest MakeRequest(const Task& task, const std::string& source, bool timed) {
  EvalRequest request;
  request.task = &task;
  request.source = source;
  request.profile = TestProfile(timed);
  return request;
}

Result<UniqueFd> BuiltArtifact(const CacheFolder& cache, const Task& task, const std::string& source) {
  const EvaluatorOptions options = SlotOptions(cache);
  TOUCHSTONE_ASSIGN(Spawner spawner, Spawner::Launch(options.program_folder + "/touchstone-spawner"));
  TOUCHSTONE_ASSIGN(const auto pool, BuildPool::Create(std::move(spawner), options.build));
  BuildRequest request;
  request.source = source;
  request.header = RenderCppHeader(task);
  if (task.policy.openmp) request.extra_flags.push_back("-fopenmp");
  TOUCHSTONE_ASSIGN(BuildOutcome outcome, pool->Build(request));
  if (outcome.kind != BuildOutcome::Kind::kBuilt) return Error(ErrorCode::kInvalidArgument, outcome.log);
  return std::move(outcome.artifact);
}

std::string Describe(const EvalResult& result) {
  std::string text = std::string(ToString(result.status)) + " in " + result.phase + ": " + result.reason;
  if (!result.diagnostics.empty()) text += " (" + result.diagnostics.substr(0, 400) + ")";
  text += " rewarded " + std::to_string(result.rewarded_speedup) + ", baseline " + std::to_string(result.baseline_us) +
          " us, candidate " + std::to_string(result.candidate_us) + " us";
  for (const auto& [name, value] : result.calibration) text += " " + name + "=" + std::to_string(value);
  for (const Evidence& evidence : result.evidence) {
    text += " [" + evidence.id;
    for (const auto& [name, value] : evidence.numbers) text += " " + name + "=" + std::to_string(value);
    text += "]";
  }
  return text;
}

}  // namespace touchstone
