#ifndef KSEARCH_GPU_WORKER_RUNNER_PYTHON_PYTHON_INTERFACE_H_
#define KSEARCH_GPU_WORKER_RUNNER_PYTHON_PYTHON_INTERFACE_H_

#include <cstdint>

// What this library and ksearch_runner.py, which loads it by ctypes, know of each other. A change
// here is a change there.
//
// What a program can replace. From `load` on it shares the interpreter and the process, so all of
// this is its own: the modules, functions, frames and objects of ksearch_runner.py, torch and its
// conversions of memory, the callbacks below and what they leave in `raised`, this library's memory
// and code, the C library. Nobody can tell whether it was replaced, and nobody needs to:
// - Clock and replies are C++ around `call`. Whatever is done in Python (no work in a call, calls
//   that are jumped over, callbacks of its own) makes a call that did not write its outputs, and
//   the verifier looks at these itself.
// - By native code (jumps over clock_gettime, send, recvmsg) a program makes up times, or says
//   "done" before it is. The verifier has a clock of its own, compares, and stops the process as
//   soon as it says "done": what was to follow is missing in the outputs. Times that come from here
//   never make a confirmation IMPROVED.
// - Nothing that the program says reaches anybody once it has seen inputs, but for an exception's
//   kind, of a fixed list, and line (gpu_worker/verifier/dialogue/runner_reply.cc).
// - The filter of system calls is there before `load`, for all threads that imports have started.
// So each attack is one that a program in C++ has too, and meets the same defenses.
// tests/bad_candidates/python tries them.
extern "C" {

// One input or output of a workload.
struct KsearchPythonArgument {
  enum Kind : int32_t { kTensor = 0, kInteger = 1, kFloat = 2, kBool = 3 };
  const char* name;
  const char* dtype;  // as torch calls it: "bfloat16"
  const int64_t* shape;
  int64_t int_value;  // of kInteger and kBool
  double float_value;
  int32_t kind;
  int32_t dimensions;
  int32_t output;  // 0 or 1
};

// Each returns 0, or another number after it wrote to `raised`.
struct KsearchPythonCallbacks {
  // `path`: of the file that defines the entry. `entry`: "" for run; "make_inputs", whose arguments
  // are the seed, a tensor of one int64, then axes ("axis:n") and scalars, then the tensors to
  // make.
  int (*load)(const char* path, const char* entry);
  // Inputs in the order of the definition, then outputs. addresses[set * count + i] is where the
  // tensor of argument i begins in a set, on the device that the program runs on; 0 for scalars.
  // Nothing of it may be kept.
  int (*setup)(const KsearchPythonArgument* arguments, int32_t count, int32_t sets,
               const uint64_t* addresses);
  // `stream`: the CUstream that the call's work goes to; null on processors.
  int (*call)(int32_t set, void* stream);
  // Not 0: since `setup` the program returns its outputs; then `copy`, in turns, makes and keeps
  // the results of a call, or copies what is kept to the outputs and drops it.
  int (*returns)();
  int (*copy)(int32_t set, void* stream);
  // A call as a suite's clock times it: ksearch_python_mark tells when the program's own work
  // begins and ends. `repeated`: on the same set and inputs as the last one, for which what a form
  // builds around the program's arguments may be used again. Results that the program returns are
  // kept for `copy`.
  int (*timed)(int32_t set, void* stream, int32_t repeated);
  // The words of an exception: kRaisedBytes bytes of the interpreter's, the last one 0.
  const char* raised;
  static constexpr int kRaisedBytes = 2048;
};

// With --in-advance, before the device is touched: waits until this runner is wanted (AwaitBegin).
// Returns 0, or another number if it never will be: the process should end then.
int ksearch_python_await();

// Within `timed`: the program's own work begins (0) or has ended (1). Else nothing.
void ksearch_python_mark(int32_t end);

// A runner's life (RunDialogue) with a program in Python, on processors or, with --gpu, on that
// device, in its primary context, which is torch's. The caller holds the interpreter's lock and
// keeps it: threads that the program started run within its calls only.
int ksearch_python_run(int argc, char** argv, const KsearchPythonCallbacks* callbacks);

}  // extern "C"

#endif  // KSEARCH_GPU_WORKER_RUNNER_PYTHON_PYTHON_INTERFACE_H_
