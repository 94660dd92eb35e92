// The fields of a record (docs/result.md), each once, for JSON and for the wire, for writing and for reading.
//
// `v` is a writer or a reader, `t` a const or plain T. v(name, member) handles one field; v.Derived(name, function) one
// that follows from those before it.
#ifndef TOUCHSTONE_REWARD_RESULT_FIELDS_H_
#define TOUCHSTONE_REWARD_RESULT_FIELDS_H_

#include "reward/result.h"

namespace touchstone {

template <typename V, typename T>
void Fields(V& v, T& t, const CompareReport*) {
  v("count", t.count);
  v("mismatches", t.mismatches);
  v("nonfinite_mismatches", t.nonfinite_mismatches);
  v("first_mismatch", t.first_mismatch);
  v("max_abs", t.max_abs);
  v("max_rel", t.max_rel);
  v("rms_error", t.rms_error);
  v("rms_expected", t.rms_expected);
  v("rms_exceeded", t.rms_exceeded);
}

template <typename V, typename T>
void Fields(V& v, T& t, const SpeedupEstimate*) {
  v("speedup", t.speedup);
  v("lower", t.lower);
  v("upper", t.upper);
  v("half_width", t.half_width);
  v("standard_error", t.standard_error);
  v("within_start_sd", t.within_start_sd);
  v("between_start_sd", t.between_start_sd);
  v("autocorrelation", t.autocorrelation);
  v("interval_stated", t.interval_stated);
  v("reason", t.reason);
}

template <typename V, typename T>
void Fields(V& v, T& t, const Evidence*) {
  v("id", t.id);
  v("severity", t.severity);
  v("explanation", t.explanation);
  v("numbers", t.numbers);
}

template <typename V, typename T>
void Fields(V& v, T& t, const TrialRecord*) {
  v("kind", t.kind);
  v("trial", t.trial);
  v("output", t.output);
  v("candidate", t.candidate);
  v("reference", t.reference);
}

template <typename V, typename T>
void Fields(V& v, T& t, const RoundRecord*) {
  v("start", t.start);
  v("round", t.round);
  v("solo", t.solo);
  v("calls", t.calls);
  v("baseline_first", t.baseline_first);
  v("is_void", t.is_void);
  v("void_reason", t.void_reason);
  v("baseline_us", t.baseline_us);
  v("candidate_us", t.candidate_us);
  v("baseline_handover_us", t.baseline_handover_us);
  v("candidate_handover_us", t.candidate_handover_us);
  v("candidate_cpu_us", t.candidate_cpu_us);
}

template <typename V, typename T>
void Fields(V& v, T& t, const EvalResult*) {
  v("schema", t.schema);
  v("id", t.id);
  v("status", t.status);
  v.Derived("fault", [&] { return ToString(t.fault()); });
  v("reason", t.reason);
  v("phase", t.phase);
  v("task", t.task);
  v("task_hash", t.task_hash);
  v("dims", t.dims);
  v("interface_name", t.interface_name);
  v("candidate_hash", t.candidate_hash);
  v("artifact_hash", t.artifact_hash);
  v("baseline", t.baseline);
  v("profile", t.profile);
  v("speedup", t.speedup);
  v("solo_upper_bound", t.solo_upper_bound);
  v("rewarded_speedup", t.rewarded_speedup);
  v("rewarded_lower_bound", t.rewarded_lower_bound);
  v("baseline_us", t.baseline_us);
  v("baseline_alone_us", t.baseline_alone_us);
  v("baseline_after_us", t.baseline_after_us);
  v("candidate_us", t.candidate_us);
  v("floor_us", t.floor_us);
  v("resolution_limited", t.resolution_limited);
  v("launch_bound", t.launch_bound);
  v("cache_state", t.cache_state);
  v("trials", t.trials);
  v("rounds", t.rounds);
  v("evidence", t.evidence);
  v("budget_ms", t.budget_ms);
  v("calibration", t.calibration);
  v("environment", t.environment);
  v("level", t.level);
  v("layers", t.layers);
  v("key_hex", t.key_hex);
  v("diagnostics", t.diagnostics);
  v("record_time", t.record_time);
}

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_RESULT_FIELDS_H_
