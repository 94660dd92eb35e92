// The one evaluator of a test program, its tasks and profiles.
#ifndef TOUCHSTONE_TESTS_HOSTILE_SLOT_H_
#define TOUCHSTONE_TESTS_HOSTILE_SLOT_H_

#include <memory>
#include <string>

#include "base/unique_fd.h"
#include "reward/reward.h"
#include "reward/task/catalog.h"

namespace touchstone {

// A folder for compiled candidates that goes away with the program.
class CacheFolder {
 public:
  CacheFolder();
  ~CacheFolder();
  CacheFolder(const CacheFolder&) = delete;
  CacheFolder& operator=(const CacheFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The source cpp/<file>.cc with attack.h in the place of its #include. Empty when there is none.
std::string CandidateSource(const std::string& file);

EvaluatorOptions SlotOptions(const CacheFolder& cache);

// test_profile.yaml; not timed: the same without rounds.
MeasurementProfile TestProfile(bool timed);

EvalRequest MakeRequest(const Task& task, const std::string& source, bool timed);

// The artifact of a candidate, from the cache of an evaluator that has built it.
Result<UniqueFd> BuiltArtifact(const CacheFolder& cache, const Task& task, const std::string& source);

// "success: reason [evidence …]", for messages.
std::string Describe(const EvalResult& result);

}  // namespace touchstone

#endif  // TOUCHSTONE_TESTS_HOSTILE_SLOT_H_
