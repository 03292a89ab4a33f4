#include "tests/gpu_worker/verifier/python_corpus.h"

namespace ksearch {
namespace {

constexpr auto kLoad = v1::OUTCOME_LOAD_ERROR;
constexpr auto kRuntime = v1::OUTCOME_RUNTIME_ERROR;
constexpr auto kTimeout = v1::OUTCOME_TIMEOUT;
constexpr auto kResource = v1::OUTCOME_RESOURCE_LIMIT;
constexpr auto kIncorrect = v1::OUTCOME_INCORRECT;
constexpr auto kBounds = v1::OUTCOME_OUT_OF_BOUNDS;
constexpr auto kInput = v1::OUTCOME_INPUT_MODIFIED;
constexpr auto kCheat = v1::OUTCOME_CHEAT;
constexpr auto kPassed = v1::OUTCOME_PASSED;
constexpr auto kCheck = PythonCheat::Measure::kCheck;
constexpr auto kScreen = PythonCheat::Measure::kScreen;
constexpr auto kLarge = PythonCheat::Measure::kScreenLarge;
constexpr auto kConfirm = PythonCheat::Measure::kConfirm;

// The program itself says that its attack came to nothing.
constexpr char kRefused[] = "raised NotImplementedError";
constexpr char kNeverWritten[] = "never written";
constexpr char kForged[] = "forged dialogue";

}  // namespace

const std::vector<PythonCheat>& PythonCheats() {
  static const auto* const cheats = new std::vector<PythonCheat>{
      // Time.
      {"patched_clocks", {kPassed}, "", kConfirm},
      {"forged_clock", {kCheat}, "", kLarge, true},
      {"done_before_work", {kCheat}, "", kLarge, true},
      {"late_python_thread", {kIncorrect}, kNeverWritten},
      {"late_thread_beside_wait", {kIncorrect, kCheat}, "", kLarge, true},
      {"next_call_does_it", {kIncorrect}, kNeverWritten},
      {"uneven_times", {kPassed}, "", kConfirm},
      {"computes_ahead", {kPassed, kCheat}, "", kConfirm},
      {"work_in_del", {kPassed}, "", kConfirm},
      {"work_at_exit", {kIncorrect}, kNeverWritten},
      {"burns_while_stopped", {kPassed}, "", kConfirm},
      // Answers without work.
      {"cached_by_address", {kIncorrect, kCheat}, "", kScreen},
      {"cached_by_shape", {kIncorrect, kCheat}, "", kScreen},
      {"cached_by_content", {kPassed}, "", kConfirm},
      {"stale_every_second", {kCheat}, "outputs of another call", kScreen, true},
      {"skipping_later", {kCheat}, "before output 'c'", kScreen},
      {"careful_by_clock", {kIncorrect}, "", kScreen},
      {"careful_when_new", {kIncorrect}},
      {"lazy_subclass", {kIncorrect}, kNeverWritten, kCheck, true},
      {"patched_copy", {kIncorrect}, kNeverWritten},
      {"works_in_setup", {kIncorrect}, kNeverWritten},
      // Outputs and inputs.
      {"other_storage", {kIncorrect}, kNeverWritten},
      {"resized_output", {kIncorrect}, kNeverWritten},
      {"output_of_another_set", {kIncorrect, kCheat}, "", kScreen},
      {"input_as_output", {kIncorrect}},
      {"one_number_everywhere", {kIncorrect}},
      {"partial_rows", {kIncorrect}, kNeverWritten},
      {"nan_outputs", {kIncorrect}, "nan"},
      {"wrong_dtype", {kRuntime}, "another dtype"},
      {"wrong_shape", {kRuntime}, "another shape"},
      {"half_precision", {kIncorrect}},
      {"zeroed_inputs", {kInput, kIncorrect}},
      {"changed_input", {kInput}, "'b'"},
      {"writes_past_end", {kBounds}, "'c'", kCheck, true},
      // Objects that belong to others.
      {"gc_answers", {kRuntime}, kRefused, kCheck, true},
      {"reads_memory", {kRuntime}, kRefused},
      {"reads_files", {kRuntime}, kRefused},
      // The dialogue.
      {"forged_done_write", {kCheat}, kForged},
      {"forged_done_socket", {kCheat}, kForged},
      {"foretold_done", {kCheat, kIncorrect}},
      {"closed_socket", {kCheat}, "control socket"},
      // The runner's own Python.
      {"replaced_calls", {kIncorrect}, kNeverWritten, kCheck, true},
      {"jumps_over_call", {kIncorrect}, kNeverWritten},
      {"replaced_callback", {kIncorrect}, kNeverWritten},
      // Reveals inputs to others.
      {"raises_inputs", {kRuntime}, "ValueError at line 3"},
      {"kind_of_inputs", {kRuntime}, "raised an exception", kCheck, true},
      {"writes_raised_words", {kRuntime}, "raised"},
      {"prints_and_fails", {kRuntime}, "ValueError"},
      {"prints_inputs", {kPassed}, "", kConfirm},
      // The machine.
      {"signals_parent", {kRuntime}, kRefused},
      {"wakes_by_timer", {kRuntime}, kRefused},
      {"exits_early", {kRuntime}, "exited with status 0"},
      {"kills_itself", {kRuntime}, "SIGKILL"},
      {"endless_loop", {kTimeout}, "a call did not end"},
      {"memory_hog", {kResource, kRuntime}},
      {"output_flood", {kResource}, "output"},
      {"new_processes", {kRuntime}, kRefused, kCheck, true},
      {"network", {kRuntime}, kRefused},
      {"writes_files", {kRuntime}, kRefused, kCheck, true},
      {"library_of_its_own", {kRuntime}, kRefused},
      {"asks_the_kernel", {kRuntime}},
      {"traces_parent", {kRuntime}, "SIGSYS"},
  };
  return *cheats;
}

const std::vector<PythonTwin>& HonestPythonPrograms() {
  static const auto* const twins = new std::vector<PythonTwin>{
      {"honest_out"},
      {"honest_returns"},
      {"honest_views"},
      {"honest_scratch"},
      {"honest_tables"},
      {"honest_threads", true},
      {"honest_shape_cache"},
      {"honest_exceptions"},
      {"honest_printing"},
      {"honest_large_temporary"},
      {"honest_in_place"},
      {"honest_numpy"},
      {"honest_many_operations", true},
      {"honest_compiled_once", true},
  };
  return *twins;
}

}  // namespace ksearch
