#include "rollout/export.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace touchstone {
namespace {

using nlohmann::json;

constexpr uint64_t kRowsAtOnce = 10'000;

json OrNull(const std::optional<double>& value) { return value ? json(*value) : json(); }

Result<std::vector<std::string>> TasksWithScores(RolloutStore& store, uint64_t last) {
  std::set<std::string> tasks;
  for (uint64_t after = 0; after < last; after += kRowsAtOnce) {
    TOUCHSTONE_ASSIGN(const std::vector<ScoredRollout> rows, store.Scored(after, std::min(last, after + kRowsAtOnce)));
    for (const ScoredRollout& row : rows) tasks.insert(row.task);
  }
  return std::vector<std::string>(tasks.begin(), tasks.end());
}

const std::string& TextOf(const RolloutRecord& record) {
  return record.response.empty() ? record.source : record.response;
}

// One task's pairs.
class TaskPairs {
 public:
  TaskPairs(RolloutStore& store, RolloutSelector& selector, const PromptOf& prompt_of, const LineSink& sink,
            PairExportReport& report)
      : store_(store), selector_(selector), prompt_of_(prompt_of), sink_(sink), report_(report) {}

  Status Draw(const SelectionRequest& request) {
    TOUCHSTONE_ASSIGN(const Selection selection, selector_.Select(request));
    const auto& items = selection.items;
    if (items.size() < 2 || items[0].score == items[1].score) {
      ++report_.without_contrast;
      return {};
    }
    const bool first_is_better = items[0].score > items[1].score;
    const Selected& chosen = items[first_is_better ? 0 : 1];
    const Selected& rejected = items[first_is_better ? 1 : 0];
    if (!written_.emplace(chosen.sequence, rejected.sequence).second) {
      ++report_.repeated;
      return {};
    }
    return Write(request, selection, chosen, rejected);
  }

 private:
  Status Write(const SelectionRequest& request, const Selection& selection, const Selected& better,
               const Selected& worse) {
    TOUCHSTONE_ASSIGN(const RolloutRecord chosen, store_.Read(better.sequence));
    TOUCHSTONE_ASSIGN(const RolloutRecord rejected, store_.Read(worse.sequence));
    json line = {{"task", request.task},
                 {"chosen", TextOf(chosen)},
                 {"rejected", TextOf(rejected)},
                 {"chosen_score", better.score},
                 {"rejected_score", worse.score},
                 {"chosen_id", chosen.id},
                 {"rejected_id", rejected.id},
                 {"chosen_prompt_hash", chosen.prompt_hash},
                 {"rejected_prompt_hash", rejected.prompt_hash},
                 {"selector", request.selector},
                 {"seed", request.seed},
                 {"as_of", selection.as_of},
                 {"probability", better.probability * worse.probability}};
    if (prompt_of_) {
      TOUCHSTONE_ASSIGN(line["prompt"], prompt_of_(chosen, rejected));
    }
    TOUCHSTONE_RETURN_IF_ERROR(sink_(line.dump(-1, ' ', false, json::error_handler_t::replace)));
    ++report_.written;
    return {};
  }

  RolloutStore& store_;
  RolloutSelector& selector_;
  const PromptOf& prompt_of_;
  const LineSink& sink_;
  PairExportReport& report_;
  std::set<std::pair<uint64_t, uint64_t>> written_;
};

}  // namespace

json ToJson(const RolloutSummary& summary) {
  return {{"sequence", summary.sequence},
          {"id", summary.id},
          {"session", summary.session},
          {"turn", summary.turn},
          {"task", summary.task},
          {"group_id", summary.group_id},
          {"parent", summary.parent},
          {"policy_version", summary.policy_version},
          {"status", ToString(summary.status)},
          {"reward_preset", summary.reward_preset},
          {"reward", OrNull(summary.reward)},
          {"speedup", summary.speedup},
          {"score", OrNull(summary.score)},
          {"time", summary.time.count()}};
}

json ToJson(const RolloutRecord& record) {
  return {{"sequence", record.sequence},
          {"id", record.id},
          {"client", record.request.client},
          {"request_id", record.request.request_id},
          {"time", record.time.count()},
          {"session", record.session},
          {"turn", record.turn},
          {"task", record.task},
          {"group_id", record.group_id},
          {"parent", record.parent},
          {"exemplars", record.exemplars},
          {"policy_version", record.policy_version},
          {"prompt_hash", record.prompt_hash},
          {"response", record.response},
          {"source", record.source},
          {"code_begin", record.code_begin},
          {"code_end", record.code_end},
          {"result", ToJson(record.result)},
          {"reward_preset", record.reward_preset},
          {"reward", OrNull(record.reward)},
          {"reward_increment", record.reward_increment},
          {"best_speedup", record.best_speedup},
          {"terminated", record.terminated},
          {"truncated", record.truncated},
          {"score", OrNull(record.score())}};
}

Result<PairExportReport> ExportPairs(RolloutStore& store, RolloutSelector& selector, const PairExportOptions& options,
                                     const PromptOf& prompt_of, const LineSink& sink) {
  PairExportReport report;
  SelectionRequest request = options.selection;
  request.count = 2;
  // All of it as of one moment, though others append meanwhile.
  if (request.as_of == 0) request.as_of = store.last_sequence();
  report.as_of = request.as_of;
  std::vector<std::string> tasks = options.tasks;
  if (tasks.empty()) {
    TOUCHSTONE_ASSIGN(tasks, TasksWithScores(store, request.as_of));
  }
  for (std::string& task : tasks) {
    request.task = std::move(task);
    TaskPairs pairs(store, selector, prompt_of, sink, report);
    for (int i = 0; i < options.pairs; ++i) {
      request.seed = options.selection.seed + static_cast<uint64_t>(i);
      TOUCHSTONE_RETURN_IF_ERROR(pairs.Draw(request));
    }
  }
  return report;
}

}  // namespace touchstone
