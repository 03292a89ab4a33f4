#include "tests/integration/hostile_candidates.h"

namespace ksearch {
namespace {

constexpr auto kInvalid = v1::OUTCOME_INVALID_SOURCE;
constexpr auto kCompile = v1::OUTCOME_COMPILE_ERROR;
constexpr auto kCompileTime = v1::OUTCOME_COMPILE_TIMEOUT;
constexpr auto kCompileLimit = v1::OUTCOME_COMPILE_LIMIT;
constexpr auto kLoad = v1::OUTCOME_LOAD_ERROR;
constexpr auto kRuntime = v1::OUTCOME_RUNTIME_ERROR;
constexpr auto kTimeout = v1::OUTCOME_TIMEOUT;
constexpr auto kResource = v1::OUTCOME_RESOURCE_LIMIT;
constexpr auto kIncorrect = v1::OUTCOME_INCORRECT;
constexpr auto kBounds = v1::OUTCOME_OUT_OF_BOUNDS;
constexpr auto kInput = v1::OUTCOME_INPUT_MODIFIED;
constexpr auto kCheat = v1::OUTCOME_CHEAT;
constexpr auto kPassed = v1::OUTCOME_PASSED;
constexpr auto kLarge = HostileCandidate::Measure::kScreenLarge;
constexpr auto kConfirm = HostileCandidate::Measure::kConfirm;
constexpr auto kScreen = HostileCandidate::Measure::kScreen;

// kContained of matmul.h: the candidate itself reports that its attack failed.
constexpr char kRefused[] = "returned 77";

}  // namespace

const std::vector<HostileCandidate>& HostileCandidates() {
  static const auto* const candidates = new std::vector<HostileCandidate>{
      // The host.
      {"host/read_host_files", {kRuntime}, kRefused},
      {"host/read_environment", {kRuntime}, kRefused},
      {"host/write_outside", {kRuntime}, kRefused},
      {"host/network", {kRuntime}, kRefused},
      {"host/abstract_socket", {kRuntime}, kRefused},
      {"host/ptrace", {kRuntime}, "SIGSYS"},
      {"host/process_memory", {kRuntime}, kRefused},
      {"host/process_vm", {kRuntime}, "SIGSYS"},
      {"host/signal_everyone", {kRuntime}, kRefused},
      {"host/exec_shell", {kRuntime}, "SIGSYS"},
      {"host/kills_itself", {kRuntime}, "SIGKILL"},
      {"host/fork_bomb", {kRuntime}, kRefused},
      {"host/daemon", {kRuntime}, kRefused},
      {"host/new_namespace", {kRuntime}, "SIGSYS"},
      {"host/io_uring", {kRuntime}, "SIGSYS"},
      {"host/io_submit", {kRuntime}, kRefused},
      {"host/file_locks", {kRuntime}, kRefused},
      {"host/own_filter", {kRuntime}, kRefused},
      {"host/terminal_input", {kRuntime}, kRefused},
      {"host/constructor_attack", {kRuntime}, kRefused},
      // Resources.
      {"resources/ignores_signals", {kTimeout}, "a call did not end"},
      {"resources/sleeper", {kTimeout}, "a call did not end"},
      {"resources/slow_calls", {kTimeout}, "total_time", kScreen, true},
      // A busy kernel takes seconds to kill a process that runs out of memory.
      {"resources/memory_touch", {kResource, kRuntime, kTimeout}},
      {"resources/memory_files", {kResource, kRuntime, kTimeout}},
      {"resources/memory_shared", {kResource, kRuntime, kTimeout}},
      {"resources/memory_zero_device", {kRuntime}, kRefused},
      {"resources/disk_fill", {kRuntime}, kRefused},
      {"resources/huge_file", {kRuntime}, kRefused},
      {"resources/inodes", {kRuntime}, kRefused},
      {"resources/log_flood", {kResource}, "output"},
      {"resources/thread_bomb", {kRuntime}, kRefused},
      {"resources/open_files", {kRuntime}, kRefused},
      {"resources/endless_workspace", {kTimeout}, "a call did not end", kScreen, true},
      {"resources/kept_files", {kResource}, "mapping the buffers failed"},
      {"resources/raised_limits", {kRuntime}, kRefused},
      {"resources/deep_recursion", {kRuntime}, "SIGSEGV"},
      {"resources/stops_itself", {kRuntime}, kRefused},
      {"resources/page_tables", {kResource, kRuntime, kTimeout}, "", kScreen, true},
      {"memory_hog", {kResource}, "workspace"},
      // Builds.
      {"build/incbin_host", {kCompile}},
      {"build/include_host", {kCompile}},
      {"build/include_device", {kCompileLimit, kCompileTime}, "", kScreen, true},
      {"build/include_bomb", {kCompileLimit, kCompileTime}, "", kScreen, true},
      {"build/template_bomb", {kCompileLimit, kCompileTime}, "", kScreen, true},
      {"build/macro_bomb", {kCompileLimit, kCompileTime}, "", kScreen, true},
      {"build/constexpr_bomb", {kCompile}},
      {"build/huge_object", {kCompileLimit}},
      {"build/error_flood", {kCompile}},
      {"build/fake_kill", {kCompile}},
      {"build/probes_host", {kRuntime}, kRefused},
      {"build/assembler_bomb", {kCompileLimit, kCompileTime}, "", kScreen, true},
      {"build/huge_source", {kInvalid}, "bytes"},
      {"build/escaping_path", {kInvalid}, "may begin with '.'"},
      {"missing_symbol", {kLoad, kCompile}, "ksearch_run"},
      {"undefined_symbol", {kLoad, kCompile}, "undefined symbol"},
      {"constructor_crash", {kLoad}, "while loading"},
      {"constructor_hang", {kTimeout}, "loading did not end", kScreen, true},
      // The dialogue and the clock.
      {"forged_done", {kCheat}, "forged dialogue"},
      {"forged_bytes", {kCheat}, "forged dialogue"},
      {"closed_socket", {kCheat}, "control socket"},
      {"dialogue/closed_and_returned", {kCheat}, "control socket"},
      {"dialogue/printed_inputs", {kPassed}, "", kConfirm},
      {"early_exit", {kRuntime}, "exited with status 0"},
      {"forged_clock", {kCheat}, "audit clock", kLarge},
      {"dialogue/forged_times", {kCheat}, "audit clock", kLarge},
      // Its threads and a busy machine's other processes leave it too few turns.
      {"dialogue/hidden_threads", {kCheat, kTimeout}, "", kLarge},
      {"dialogue/interposed_clock", {kPassed}, "", kConfirm},
      {"dialogue/stopped_tsc", {kRuntime}, kRefused},
      {"dialogue/printed_verdict", {kIncorrect}, "never written"},
      {"dialogue/stolen_requests", {kTimeout, kCheat, kRuntime}},
      {"dialogue/passed_descriptor", {kRuntime}, kRefused},
      {"dialogue/shrunken_buffers", {kRuntime}, kRefused},
      {"dialogue/woken_thread", {kRuntime}, kRefused},
      {"dialogue/unstoppable_thread", {kRuntime}, kRefused},
      {"dialogue/wide_input_signal", {kRuntime}, kRefused},
      {"dialogue/takes_back_stop", {kRuntime}, kRefused},
      {"dialogue/shared_offset", {kPassed}, "", kConfirm},
      {"late_thread", {kIncorrect, kCheat}, "", kLarge},
      {"dialogue/worker_thread", {kIncorrect, kCheat}, "", kLarge},
      {"dialogue/lagging_thread", {kIncorrect, kCheat}, "", kLarge},
      {"dialogue/main_thread_ends", {kTimeout, kRuntime, kCheat}},
      {"dialogue/uncaught_exception", {kRuntime}, "SIGABRT"},
      {"dialogue/forced_unwinding", {kRuntime}, "SIGABRT"},
      {"dialogue/replaced_descriptor", {kCheat}, "control socket"},
      {"dialogue/yielding_main", {kPassed}, "", kConfirm},
      {"dialogue/left_rounding", {kPassed}, "", kConfirm},
      // Mostly INCORRECT: where no late inputs come in time, they gain nothing.
      {"dialogue/resumed_handler", {kPassed, kIncorrect, kRuntime}, "", kConfirm},
      {"computes_apart", {kPassed, kIncorrect, kRuntime}, "", kConfirm},
      {"dialogue/last_row_late", {kPassed, kIncorrect, kCheat}, "", kConfirm},
      // Numbers.
      {"cached_by_pointer", {kIncorrect}},
      {"numbers/cached_by_shape", {kIncorrect}},
      {"numbers/cached_by_sample", {kIncorrect, kCheat}},
      {"numbers/cached_by_content", {kPassed}, "", kConfirm},
      // Wrong where contents are mostly zeros, and hard to tell apart.
      {"numbers/moved_window", {kPassed, kIncorrect}, "", kConfirm},
      {"stale_every_second", {kCheat}, "outputs of another call"},
      {"skipping_every_second", {kCheat}, "before output 'c'"},
      {"no_output", {kIncorrect}, "never written"},
      {"partial_output", {kIncorrect}, "never written"},
      {"numbers/after_ten_calls", {kIncorrect, kCheat}},
      {"numbers/known_shapes", {kIncorrect}, "", kConfirm},
      {"numbers/remapped_output", {kIncorrect}, "never written"},
      {"numbers/aliased_output", {kInput}, "input 'a'"},
      {"input_modified", {kInput}, "input 'b'"},
      {"out_of_bounds", {kBounds}, "past the end of 'c'"},
      {"numbers/writes_before", {kBounds}, "before 'c'"},
      {"numbers/long_overrun", {kBounds}, "past the end of 'c'"},
      {"numbers/uncleared_output", {kIncorrect}},
      {"numbers/uncleared_workspace", {kIncorrect}},
      {"numbers/reduced_precision", {kIncorrect}},
      {"numbers/dropped_terms", {kIncorrect}},
      {"numbers/sometimes_wrong", {kIncorrect, kCheat}},
      {"numbers/guesses_half", {kIncorrect, kCheat}},
      // Where a look at some rows shows the odd one, it is right.
      {"sampled_inputs", {kPassed, kIncorrect}, "", kConfirm},
      {"numbers/counts_processes", {kPassed, kIncorrect}, "", kConfirm},
      {"wrong_numbers", {kIncorrect}},
      {"nan_output", {kIncorrect}},
  };
  return *candidates;
}

const std::vector<std::string>& HonestTwins() {
  static const auto* const twins = new std::vector<std::string>{
      "honest",
      "honest_threads",
      "honest_workspace",
      "printing",
      "honest/scratch",
      "honest/thread_pool",
      "honest/many_means",
      "honest/range_scan",
      "honest/spinning_pool",
      "honest/reordered_sums",
      "honest/double_sums",
      "honest/lookup_table",
      "honest/exceptions",
      "honest/large_stack",
      "honest/async_halves",
      "honest/work_queue",
      "honest/barrier_pair",
      "honest/lazy_tables",
      "honest/mapped_scratch",
      "honest/many_targets",
      "honest/streaming_stores",
      "honest/autotuned",
      "honest/zeroed_then_summed",
      "honest/sleeping_pool",
      "honest/exact_subnormals",
      "honest/descriptor_pool",
      "honest/raw_futex_pool",
      "honest/matrix_tiles",
  };
  return *twins;
}

}  // namespace ksearch
