// Stored rollouts for other programs: as JSON, and as pairs of a better and a worse one for preference training.
#ifndef TOUCHSTONE_ROLLOUT_EXPORT_H_
#define TOUCHSTONE_ROLLOUT_EXPORT_H_

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rollout/record.h"
#include "rollout/selector.h"
#include "rollout/store.h"

namespace touchstone {

// Every field under its name in record.h, times in microseconds, `score` beside them. Holds the judge's key.
nlohmann::json ToJson(const RolloutRecord& record);
nlohmann::json ToJson(const RolloutSummary& summary);

struct PairExportOptions {
  std::vector<std::string> tasks;  // empty: every task that has a score
  int pairs = 100;                 // drawn for each task
  SelectionRequest selection;      // `task` and `count` are set here; draw i has the seed `selection.seed` + i
};

struct PairExportReport {
  uint64_t written = 0;
  uint64_t repeated = 0;          // drawn, and written before
  uint64_t without_contrast = 0;  // drawn with equal scores, or nothing to draw a second one from
  uint64_t as_of = 0;             // the whole export comes again with this in selection.as_of
};

// The prompt that both answer. Its error ends the export.
using PromptOf = std::function<Result<std::string>(const RolloutRecord& chosen, const RolloutRecord& rejected)>;
// Takes one line without its line feed. Its error ends the export.
using LineSink = std::function<Status(std::string_view line)>;

// Writes lines of
//   {task, prompt, chosen, rejected, chosen_score, rejected_score, chosen_id, rejected_id, chosen_prompt_hash,
//    rejected_prompt_hash, selector, seed, as_of, probability}
// `chosen` has the higher score. A text is the model's response, or the source where only that was submitted.
// `probability` is that of drawing these two in the order in which they were drawn. Without `prompt_of` there is no
// `prompt`. Errors are the selector's and the store's.
Result<PairExportReport> ExportPairs(RolloutStore& store, RolloutSelector& selector, const PairExportOptions& options,
                                     const PromptOf& prompt_of, const LineSink& sink);

}  // namespace touchstone

#endif  // TOUCHSTONE_ROLLOUT_EXPORT_H_
