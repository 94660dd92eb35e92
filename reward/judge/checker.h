#ifndef TOUCHSTONE_REWARD_JUDGE_CHECKER_H_
#define TOUCHSTONE_REWARD_JUDGE_CHECKER_H_

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "reward/judge/device.h"
#include "reward/judge/fate.h"
#include "reward/judge/side.h"
#include "reward/result.h"
#include "reward/task/task.h"

namespace touchstone {

// An expected output: dense, in a block that no candidate can reach.
struct Expected {
  const DeviceBlock* block = nullptr;
  uint64_t offset = 0;
  DType dtype = DType::kFloat32;
};

// Decides whether the outputs of calls are right, and whether their side left inputs and guards alone. Adds what it saw
// to the record: one row for each trial and output, one row for all windows together.
class Checker {
 public:
  Checker(Device& device, const Task& task, const SecretKey& key, EvalResult& record)
      : device_(device), task_(task), key_(key), record_(record) {}

  // The outputs of the i-th call of `turn` on the reference's side, made dense where they are not. Valid until the next
  // call of this function with the same `slot`.
  Result<std::vector<Expected>> Expect(const Side& reference, const Turn& turn, std::span<const uint32_t> sets,
                                       size_t i, bool oracle, uint64_t slot);

  // Checks the calls of a candidate's turn against the expected outputs of each; the first one that is wrong decides.
  // `widen` multiplies the tolerances: 1 against the oracle, more where the expected values have an error of their own.
  Result<std::optional<Fate>> CheckCalls(const Side& candidate, const Turn& turn, std::span<const CallSlot> slots,
                                         std::span<const std::vector<Expected>> expected, double widen,
                                         const std::string& kind, int trial);

  // Compares a reference's own outputs with the oracle, for the record.
  Result<std::vector<CompareReport>> Measure(std::span<const Expected> actual, std::span<const Expected> oracle,
                                             const SetLayout& layout);

  // Reports of the reference that the rows of the next CheckCalls carry.
  void SetReferenceReports(std::vector<CompareReport> reports) { reference_reports_ = std::move(reports); }
  // Adds the merged rows of windows and solos to the record.
  void Finish();

 private:
  // Output `o` of the i-th call as a dense array: itself, or a copy that `copies` keeps.
  Result<Expected> Dense(const Side& candidate, const StridedArray& array, size_t o,
                         std::vector<std::unique_ptr<DeviceBlock>>& copies);
  // Adds the row of an output to the record, and to `fate` what it means where that is the first thing that is wrong.
  void TakeReport(const Side& candidate, const CallSlot& slot, size_t o, const CompareReport& report,
                  const std::string& kind, int trial, std::optional<Fate>& fate);
  // The same for a count of elements or bytes that should not have been touched.
  void TakeDamage(uint64_t count, const char* id, const char* unit, const char* explanation, const char* reason,
                  std::optional<Fate>& fate);
  std::string Describe(const Side& candidate, const CallSlot& slot, size_t o, const CompareReport& report,
                       const std::string& kind) const;

  Device& device_;
  const Task& task_;
  SecretKey key_;
  EvalResult& record_;
  std::vector<CompareReport> reference_reports_;
  std::map<std::pair<uint64_t, size_t>, std::unique_ptr<DeviceBlock>> dense_;  // (slot, output)
  std::map<std::pair<std::string, size_t>, TrialRecord> merged_;
};

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_JUDGE_CHECKER_H_
