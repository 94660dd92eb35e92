#include "tests/hostile/candidates.h"

#include <cctype>

namespace touchstone {
namespace {

using enum EvalStatus;

const std::set<EvalStatus> kPaidAsHonest = {kSuccess, kUnstable};
// Which of the two depends on whether the judge's copy of a tile or the end of the work came first.
const std::set<EvalStatus> kCaughtUnfinished = {kCheating, kIncorrect};
const std::set<EvalStatus> kAnyCompileFate = {kCompileError, kOutOfMemory, kTimeout};

// Candidates of one task stand together: the judge keeps the reference of the last task warm.
std::vector<HostileCase> MakeCases() {
  const auto add = [](std::string file, std::set<EvalStatus> expected, Control control = Control::kNone,
                      std::string evidence = "", std::string twin = "honest_add") {
    return HostileCase{std::move(file),     "add",   false,          std::move(expected),
                       std::move(evidence), control, std::move(twin)};
  };
  const auto timed = [&](std::string file, std::set<EvalStatus> expected, Control control = Control::kNone,
                         std::string twin = "honest_add") {
    HostileCase c = add(std::move(file), std::move(expected), control, "", std::move(twin));
    c.timed = true;
    return c;
  };
  return {
      // Outputs and inputs.
      add("writes_past_the_output", {kIncorrect}, Control::kAccepted, "guard_damaged"),
      add("writes_before_the_output", {kIncorrect}, Control::kNone, "guard_damaged"),
      add("changes_an_input", {kIncorrect}, Control::kAccepted, "input_mutated"),
      add("zeroes_inputs_and_output", {kIncorrect}, Control::kAcceptedByRefLast, "input_mutated"),
      add("leaves_the_output", {kIncorrect}, Control::kRewarded),
      add("leaves_the_end_of_the_output", {kIncorrect}, Control::kAccepted),
      add("answers_nan", {kIncorrect}, Control::kAccepted),
      add("answers_one_infinity", {kIncorrect}),
      add("one_wrong_element", {kIncorrect}, Control::kAccepted),
      add("right_on_the_first_call", {kIncorrect}, Control::kRewarded),
      add("right_on_one_shape", {kIncorrect}, Control::kAccepted),
      add("claims_an_input_as_output", {kIncorrect}, Control::kNone, "input_mutated"),
      add("punches_a_hole", {kIncorrect}),
      add("maps_the_block_away", {kIncorrect}),
      // The protocol.
      add("scribbles_over_the_page", {kSuccess}),
      add("abuses_the_control_socket", {kSuccess}),
      add("seals_its_pages", {kSuccess}),
      add("writes_the_command", {kSuccess}),
      add("forges_the_status", {kRuntimeError}),
      add("unmaps_the_answer", {kRuntimeError}),
      // The box.
      add("looks_for_secrets", {kSuccess}, Control::kFileSystem),
      add("takes_privileges", {kSuccess}, Control::kFilter),
      add("kills_everybody", {kSuccess}),
      add("forks_without_end", {kSuccess, kLoadError, kRuntimeError}, Control::kNone, "", "honest_add_thread"),
      add("floods_the_output", {kSuccess}, Control::kNone, "", "honest_add_scratch"),
      add("allocates_without_end", {kOutOfMemory}, Control::kNone, "", "honest_add_scratch"),
      add("fills_a_memfd", {kOutOfMemory}, Control::kNone, "", "honest_add_scratch"),
      // Endings: none of them is our fault.
      add("exits_in_constructor", {kLoadError}, Control::kAccepted, "", "honest_add_scratch"),
      add("exits_in_run", {kRuntimeError}, Control::kAccepted),
      add("exits_after_the_answer", {kRuntimeError}),
      add("dereferences_null", {kRuntimeError}),
      add("aborts", {kRuntimeError}),
      add("kills_itself", {kRuntimeError}),
      add("lets_a_timer_kill_it", {kRuntimeError}),
      add("throws", {kRuntimeError}, Control::kNone, "", "honest_add_templates"),
      add("overflows_the_stack", {kRuntimeError}),
      add("run_is_no_function", {kRuntimeError}),
      add("spins_for_ever", {kTimeout}),
      add("spins_in_constructor", {kTimeout}, Control::kNone, "", "honest_add_scratch"),
      add("stops_itself", {kTimeout}),
      add("waits_in_vfork", {kTimeout}, Control::kNone, "", "honest_add_thread"),
      // The compiler.
      add("includes_a_file_of_the_host", {kCompileError}),
      add("includes_itself", {kCompileError}),
      add("includes_zeros_without_end", kAnyCompileFate),
      add("embeds_a_file_of_the_host", {kCompileError}),
      add("huge_array", kAnyCompileFate, Control::kNone, "", "honest_add_templates"),
      add("template_bomb", kAnyCompileFate, Control::kNone, "", "honest_add_templates"),
      add("error_flood", {kCompileError}),
      add("asks_for_a_plugin", {kSuccess}),
      add("no_run", {kCompileError}),
      // Time.
      timed("answers_before_the_work", kCaughtUnfinished, Control::kRewarded, "honest_add_thread"),
      timed("leftover_process_works_later", kCaughtUnfinished, Control::kRewarded, "honest_add_thread"),
      timed("forges_done", kCaughtUnfinished),
      timed("forges_done_before_the_end", kCaughtUnfinished),
      timed("counts_done_ahead", {kCheating, kIncorrect, kTimeout, kRuntimeError, kUnstable}),
      timed("right_in_the_first_calls", {kIncorrect}, Control::kRewarded),
      timed("caches_by_pointer", {kIncorrect}, Control::kRewarded, "honest_add_scratch"),
      timed("caches_by_content", {kIncorrect}, Control::kRewarded, "honest_add_scratch"),
      timed("skips_what_looks_right", kPaidAsHonest, Control::kRewarded),
      timed("batches_calls", kPaidAsHonest, Control::kRewarded),
      timed("patches_the_clock", kPaidAsHonest, Control::kRewarded),
      timed("works_in_the_hand_over", kPaidAsHonest, Control::kHandOver),
      timed("slow_in_the_warm_up", kPaidAsHonest),
      // The freezer may stop it in the middle of a set, whose next contents it then spoils.
      timed("watches_its_memory", {kSuccess, kUnstable, kIncorrect}, Control::kFreezer),
      timed("loads_all_cores", kPaidAsHonest, Control::kLoad),
      timed("sleeps_at_random", kPaidAsHonest),
      timed("slow_every_other_moment", kPaidAsHonest),
      timed("gives_up_half_of_its_measurements", {kSuccess, kUnstable, kRuntimeError}),
      timed("arms_timers", kPaidAsHonest),
      timed("voids_single_calls", {kUnstable}),
      timed("voids_every_round", {kUnstable}),
      // What a hidden trial saw stays in the box.
      timed("tells_hidden_shapes", {kRuntimeError}),
      add("exits_with_a_hidden_shape", {kRuntimeError}),
      // Precision and ranges.
      {"softmax_without_maximum", "softmax", false, {kIncorrect}, "", Control::kAccepted, "honest_softmax"},
      {"matmul_in_half_precision", "matmul", false, {kIncorrect}, "", Control::kAccepted, "honest_matmul"},
      {"row_sum_in_half_precision", "row_sum", false, {kIncorrect}, "", Control::kAccepted, "honest_row_sum"},
  };
}

}  // namespace

std::string HostileCase::Name() const {
  std::string name;
  bool upper = true;
  for (const char c : file) {
    if (c != '_') name += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = c == '_';
  }
  if (timed && expected.contains(kSuccess)) return name + "_is_paid_as_honest";
  if (expected == std::set<EvalStatus>{kSuccess}) return name + "_is_harmless";
  if (expected == kAnyCompileFate) return name + "_is_not_built";
  if (expected == kCaughtUnfinished) return name + "_is_cheating_or_incorrect";
  return name + "_is_" + std::string(expected.size() == 1 ? ToString(*expected.begin()) : "not_rewarded");
}

const std::vector<HostileCase>& HostileCases() {
  static const std::vector<HostileCase> cases = MakeCases();
  return cases;
}

}  // namespace touchstone
