// touchstone replay: what a rollout store holds, and pairs drawn from it.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "env/cli/command.h"
#include "env/cli/json_lines.h"
#include "env/cli/report.h"
#include "env/cli/table.h"
#include "env/episode/task_text.h"
#include "reward/task/catalog.h"
#include "rollout/rollout.h"

namespace touchstone::cli {
namespace {

constexpr char kExamples[] = R"(
Examples:
  touchstone replay list rollouts/
  touchstone replay list rollouts/ --task softmax --status success --limit 20
  touchstone replay list rollouts/ --eligible --json list.jsonl
  touchstone replay show rollouts/ ID                  the result, the lineage and the source of one rollout
  touchstone replay show rollouts/ ID --text source    nothing but the source
  touchstone replay pairs rollouts/ softmax --seed 7   two rollouts that differ in score, as a prompt would show them
  touchstone replay export rollouts/ -o pairs.jsonl --pairs 200
  touchstone replay verify rollouts/

Each reads the store's folder, beside the server that writes to it, too. `export` writes lines of prompt, chosen,
rejected, scores and ids for preference training; the same --seed and --as-of give the same lines again. The records that
show --json prints hold the judge's key: they are not for policies.

Exit codes: 0 all well; 1 nothing was found, or verify found damage; 2 bad arguments; 3 the environment failed.)";

Result<std::unique_ptr<RolloutStore>> OpenToRead(const std::string& folder) {
  StoreOptions options;
  options.folder = folder;
  options.read_only = true;
  return RolloutStore::Open(options);
}

// JSON for a line of a file. What is not UTF-8 becomes U+FFFD.
std::string Line(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string FormatNumber(const std::optional<double>& value) {
  if (!value) return "–";
  char text[32];
  std::snprintf(text, sizeof(text), "%.4g", *value);
  return text;
}

std::string FormatTime(UnixMicros time) {
  const std::time_t seconds = time.count() / 1'000'000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts);
  return text;
}

// --- list ------------------------------------------------------------------------------------------------------------

struct ListOptions {
  std::string folder;
  RolloutFilter filter;
  std::string status;
  std::string json;
};

ExitCode List(ListOptions options) {
  if (!options.status.empty()) {
    options.filter.status = EvalStatusFromString(options.status);
    if (!options.filter.status) {
      return Fail(Error(ErrorCode::kInvalidArgument, "--status: no status '" + options.status + "'"));
    }
  }
  const auto store = OpenToRead(options.folder);
  if (!store.ok()) return Fail(store.error());
  const auto rows = (*store)->List(options.filter);
  if (!rows.ok()) return Fail(rows.error());
  if (!options.json.empty()) {
    auto json = JsonLines::Open(options.json);
    if (!json.ok()) return Fail(json.error());
    for (const RolloutSummary& row : *rows) {
      const Status written = json->Write(Line(ToJson(row)));
      if (!written.ok()) return Fail(written.error());
    }
  }
  if (options.json != "-") {
    using Align = Table::Align;
    Table table({{"#", Align::kRight},
                 {"rollout"},
                 {"task"},
                 {"status"},
                 {"speedup", Align::kRight},
                 {"reward", Align::kRight},
                 {"score", Align::kRight},
                 {"group"},
                 {"session"},
                 {"turn", Align::kRight},
                 {"time (UTC)"}});
    for (const RolloutSummary& row : *rows) {
      table.Add({std::to_string(row.sequence), OneLine(row.id), OneLine(row.task), std::string(ToString(row.status)),
                 row.speedup > 0 ? FormatNumber(row.speedup) + "×" : "–", FormatNumber(row.reward),
                 FormatNumber(row.score), OneLine(row.group_id), OneLine(row.session),
                 row.session.empty() ? "" : std::to_string(row.turn), FormatTime(row.time)});
    }
    std::fputs(table.ToString().c_str(), stdout);
    if (rows->size() == options.filter.limit) {
      std::printf("\nMore may follow: --after %llu\n", static_cast<unsigned long long>(rows->back().sequence));
    }
  }
  return rows->empty() ? kExitNotSuccessful : kExitSuccess;
}

void AddList(CLI::App& replay, Action& action) {
  auto options = std::make_shared<ListOptions>();
  CLI::App* list = replay.add_subcommand("list", "Rollouts in the order in which they were stored");
  list->add_option("folder", options->folder, "The store's folder")->required();
  list->add_option("--task", options->filter.task, "Only of this task");
  list->add_option("--group", options->filter.group_id, "Only of this group");
  list->add_option("--session", options->filter.session, "Only of this episode");
  list->add_option("--policy", options->filter.policy_version, "Only of this policy version");
  list->add_option("--status", options->status, "Only with this status, for example success");
  list->add_flag("--eligible", options->filter.eligible_only, "Only those that may be shown as exemplars");
  list->add_option("--after", options->filter.after, "Only after this number")->capture_default_str();
  list->add_option("--limit", options->filter.limit, "At most so many")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  list->add_option("--json", options->json, "Write one JSON record a line to this file; - is standard output");
  list->callback([options, &action] { action = [options] { return List(*options); }; });
}

// --- show ------------------------------------------------------------------------------------------------------------

struct ShowOptions {
  std::string folder;
  std::string id;
  std::string text;
  std::string json;
};

// Texts of a model or a compiler, line by line, safe for a terminal.
void PrintText(const char* title, const std::string& text) {
  if (text.empty()) return;
  std::printf("\n%s\n", title);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::printf("  %s\n", OneLine(text.substr(begin, end - begin)).c_str());
    begin = end + 1;
  }
}

void PrintRollout(const RolloutRecord& record) {
  Table table({{"rollout"}, {OneLine(record.id)}});
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) table.Add({name, OneLine(value)});
  };
  add("number", std::to_string(record.sequence));
  add("time (UTC)", FormatTime(record.time));
  add("task", record.task);
  add("status", std::string(ToString(record.result.status)));
  add("reason", record.result.reason);
  add("speedup", FormatSpeedup(record.result));
  add("reward", FormatNumber(record.reward) + " (" + record.reward_preset + ")");
  add("score", FormatNumber(record.score()));
  add("episode", record.session.empty() ? "" : record.session + ", turn " + std::to_string(record.turn));
  add("group", record.group_id);
  add("parent", record.parent);
  for (const std::string& id : record.exemplars) add("was shown", id);
  add("policy", record.policy_version);
  add("prompt hash", record.prompt_hash);
  add("request", record.request.request_id + " of client '" + record.request.client + "'");
  add("ended", record.terminated ? "terminated" : record.truncated ? "truncated" : "");
  for (const Evidence& evidence : record.result.evidence) {
    add("evidence", std::string(ToString(evidence.severity)) + ": " + evidence.id + ": " + evidence.explanation);
  }
  std::fputs(table.ToString().c_str(), stdout);
  PrintText("Diagnostics", record.result.diagnostics);
  PrintText("Source", record.source);
}

ExitCode Show(const ShowOptions& options) {
  const auto store = OpenToRead(options.folder);
  if (!store.ok()) return Fail(store.error());
  const auto record = (*store)->Read(options.id);
  if (!record.ok()) return Fail(record.error());
  if (!options.text.empty()) {
    const std::string& text = options.text == "source" ? record->source : record->response;
    std::fwrite(text.data(), 1, text.size(), stdout);
    return kExitSuccess;
  }
  if (!options.json.empty()) {
    auto json = JsonLines::Open(options.json);
    if (!json.ok()) return Fail(json.error());
    const Status written = json->Write(Line(ToJson(*record)));
    if (!written.ok()) return Fail(written.error());
  }
  if (options.json != "-") PrintRollout(*record);
  return kExitSuccess;
}

void AddShow(CLI::App& replay, Action& action) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* show = replay.add_subcommand("show", "All of one rollout");
  show->add_option("folder", options->folder, "The store's folder")->required();
  show->add_option("id", options->id, "The rollout's id")->required();
  show->add_option("--text", options->text, "Print this text alone, byte by byte")
      ->check(CLI::IsMember({"source", "response"}));
  show->add_option("--json", options->json, "Write the full record as JSON to this file; - is standard output");
  show->callback([options, &action] { action = [options] { return Show(*options); }; });
}

// --- pairs and export ------------------------------------------------------------------------------------------------

void AddSelectionOptions(CLI::App& command, SelectionRequest& request) {
  command.add_option("--selector", request.selector, "uniform, top_k or cuda_l1")->capture_default_str();
  command.add_option("--group", request.group_id, "Only of this group");
  command.add_option("--seed", request.seed, "Same seed and same --as-of: same draw")->capture_default_str();
  command.add_option("--as-of", request.as_of, "Only rollouts up to this number; 0: all")->capture_default_str();
  command.add_option("--temperature", request.temperature, "cuda_l1: of the softmax over bucket means")
      ->capture_default_str();
  command.add_option("--bucket-width", request.bucket_width, "cuda_l1: width of a bucket of scores")
      ->capture_default_str();
}

struct PairsOptions {
  std::string folder;
  SelectionRequest request;
  std::string json;
};

ExitCode Pairs(const PairsOptions& options) {
  const auto store = OpenToRead(options.folder);
  if (!store.ok()) return Fail(store.error());
  const auto selector = RolloutSelector::Create(**store);
  if (!selector.ok()) return Fail(selector.error());
  const auto selection = (*selector)->Select(options.request);
  if (!selection.ok()) return Fail(selection.error());
  if (!options.json.empty()) {
    nlohmann::json line = {{"task", options.request.task},
                           {"selector", options.request.selector},
                           {"seed", options.request.seed},
                           {"as_of", selection->as_of},
                           {"items", nlohmann::json::array()}};
    for (const Selected& item : selection->items) {
      line["items"].push_back(
          {{"sequence", item.sequence}, {"id", item.id}, {"score", item.score}, {"probability", item.probability}});
    }
    auto json = JsonLines::Open(options.json);
    if (!json.ok()) return Fail(json.error());
    const Status written = json->Write(Line(line));
    if (!written.ok()) return Fail(written.error());
  }
  if (options.json != "-") {
    using Align = Table::Align;
    Table table({{"#", Align::kRight}, {"rollout"}, {"score", Align::kRight}, {"probability", Align::kRight}});
    for (const Selected& item : selection->items) {
      table.Add(
          {std::to_string(item.sequence), OneLine(item.id), FormatNumber(item.score), FormatNumber(item.probability)});
    }
    std::fputs(table.ToString().c_str(), stdout);
    std::printf("\nDrawn by %s of %s; again with --seed %llu --as-of %llu\n", options.request.selector.c_str(),
                OneLine(options.request.task).c_str(), static_cast<unsigned long long>(options.request.seed),
                static_cast<unsigned long long>(selection->as_of));
  }
  const bool enough = selection->items.size() == static_cast<size_t>(options.request.count);
  return enough ? kExitSuccess : kExitNotSuccessful;
}

void AddPairs(CLI::App& replay, Action& action) {
  auto options = std::make_shared<PairsOptions>();
  CLI::App* pairs = replay.add_subcommand("pairs", "Draw rollouts of a task to show again");
  pairs->add_option("folder", options->folder, "The store's folder")->required();
  pairs->add_option("task", options->request.task, "Id of a task")->required();
  pairs->add_option("--count", options->request.count, "How many to draw")->capture_default_str();
  AddSelectionOptions(*pairs, options->request);
  pairs->add_option("--json", options->json, "Write the draw as JSON to this file; - is standard output");
  pairs->callback([options, &action] { action = [options] { return Pairs(*options); }; });
}

struct ExportOptions {
  std::string folder;
  std::string output;
  std::string size = "cpu";
  bool no_prompt = false;
  PairExportOptions pairs;
};

// What a policy is told of the task, from the catalogue; the store has only the hash of what was really said.
Result<std::string> PromptFor(const RolloutRecord& chosen, const std::string& size) {
  TOUCHSTONE_ASSIGN(const Task task, FindTask(chosen.task));
  TOUCHSTONE_ASSIGN(const TaskText text, RenderTaskText(task, size, "cpp", {}));
  return text.statement + "\n\n" + text.signature;
}

Result<PairExportReport> WritePairs(const ExportOptions& options) {
  TOUCHSTONE_ASSIGN(const auto store, OpenToRead(options.folder));
  TOUCHSTONE_ASSIGN(const auto selector, RolloutSelector::Create(*store));
  TOUCHSTONE_ASSIGN(JsonLines lines, JsonLines::Open(options.output));
  PromptOf prompt_of;
  if (!options.no_prompt) {
    prompt_of = [&](const RolloutRecord& chosen, const RolloutRecord&) -> Result<std::string> {
      auto prompt = PromptFor(chosen, options.size);
      if (!prompt.ok()) return prompt.error().Within("prompt (leave it out with --no-prompt)");
      return prompt;
    };
  }
  return ExportPairs(*store, *selector, options.pairs, prompt_of,
                     [&](std::string_view line) { return lines.Write(line); });
}

ExitCode Export(const ExportOptions& options) {
  const auto report = WritePairs(options);
  if (!report.ok()) return Fail(report.error());
  std::fprintf(stderr, "%llu pairs written, as of rollout %llu; %llu draws repeated one, %llu had no contrast\n",
               static_cast<unsigned long long>(report->written), static_cast<unsigned long long>(report->as_of),
               static_cast<unsigned long long>(report->repeated),
               static_cast<unsigned long long>(report->without_contrast));
  return report->written > 0 ? kExitSuccess : kExitNotSuccessful;
}

void AddExport(CLI::App& replay, Action& action) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command = replay.add_subcommand("export", "Pairs of a better and a worse rollout, as JSON lines");
  command->add_option("folder", options->folder, "The store's folder")->required();
  command->add_option("-o,--output", options->output, "File to write; - is standard output")->required();
  command->add_option("--task", options->pairs.tasks, "Only of this task; may come several times");
  command->add_option("--pairs", options->pairs.pairs, "Draws for each task")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--size", options->size, "Size of the task that the prompt names")->capture_default_str();
  command->add_flag("--no-prompt", options->no_prompt, "Leave the prompt out: only its hashes");
  AddSelectionOptions(*command, options->pairs.selection);
  command->callback([options, &action] { action = [options] { return Export(*options); }; });
}

// --- verify ----------------------------------------------------------------------------------------------------------

ExitCode Verify(const std::string& folder) {
  const auto store = OpenToRead(folder);
  const auto found = store.ok() ? (*store)->Verify() : Result<std::string>(store.error());
  if (found.ok()) {
    std::printf("%s\n", found->c_str());
    return kExitSuccess;
  }
  if (found.error().code() != ErrorCode::kCorrupt) return Fail(found.error());
  std::printf("damaged: %s\n", OneLine(found.error().message()).c_str());
  return kExitNotSuccessful;
}

void AddVerify(CLI::App& replay, Action& action) {
  auto folder = std::make_shared<std::string>();
  CLI::App* verify = replay.add_subcommand("verify", "Check every checksum, count and reference of a store");
  verify->add_option("folder", *folder, "The store's folder")->required();
  verify->callback([folder, &action] { action = [folder] { return Verify(*folder); }; });
}

}  // namespace

void AddReplayCommand(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("replay", "Look at stored rollouts, draw pairs, export and verify them");
  command->footer(kExamples);
  command->require_subcommand(1);
  AddList(*command, action);
  AddShow(*command, action);
  AddPairs(*command, action);
  AddExport(*command, action);
  AddVerify(*command, action);
}

}  // namespace touchstone::cli
