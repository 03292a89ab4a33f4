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
  const char* dtype;  // in torch's notation: "bfloat16"
  const int64_t* shape;
  int64_t int_value;  // of kInteger and kBool
  double float_value;
  int32_t kind;
  int32_t dimensions;
  int32_t output;  // 0 or 1
};

// Each returns 0, or another number after writing to `raised`.
struct KsearchPythonCallbacks {
  // `path` of the file that defines the entry. `entry`: "" for run; "make_inputs", whose arguments
  // are the seed, a tensor of one int64, then axes ("axis:n") and scalars, then the tensors to
  // make.
  int (*load)(const char* path, const char* entry);
  // Inputs in the order of the definition, then outputs. addresses[set * count + i] is the address
  // of argument i's tensor in a set, on the device that the program runs on; 0 for scalars. The
  // callee must not keep any of it.
  int (*setup)(const KsearchPythonArgument* arguments, int32_t count, int32_t sets,
               const uint64_t* addresses);
  // `stream`: the CUstream for the call's work; null on processors.
  int (*call)(int32_t set, void* stream);
  // Not 0 if, since `setup`, the program returns its outputs; then `copy` alternately makes and
  // keeps the results of a call, and copies the kept results to the outputs and drops them.
  int (*returns)();
  int (*copy)(int32_t set, void* stream);
  // A call as a suite's clock times it: ksearch_python_mark reports when the program's own work
  // begins and ends. `repeated`: same set and inputs as the previous call, so that objects that a
  // form builds around the program's arguments may be reused. Results that the program returns are
  // kept for `copy`.
  int (*timed)(int32_t set, void* stream, int32_t repeated);
  // The message of an exception: kRaisedBytes bytes owned by the interpreter, the last one 0.
  const char* raised;
  static constexpr int kRaisedBytes = 2048;
};

// With --in-advance, before the device is used: waits until this runner is needed (AwaitBegin).
// Returns 0, or another number if it will not be needed: the process should then end.
int ksearch_python_await();

// Within `timed`: the program's own work begins (0) or has ended (1). Otherwise has no effect.
void ksearch_python_mark(int32_t end);

// Runs a dialogue (RunDialogue) with a Python program, on processors or, with --gpu, on that
// device, in its primary context, which is torch's. The caller holds the interpreter's lock and
// keeps it: threads that the program started run only within its calls.
int ksearch_python_run(int argc, char** argv, const KsearchPythonCallbacks* callbacks);

}  // extern "C"

#endif  // KSEARCH_GPU_WORKER_RUNNER_PYTHON_PYTHON_INTERFACE_H_
