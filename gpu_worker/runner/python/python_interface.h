#ifndef KSEARCH_GPU_WORKER_RUNNER_PYTHON_PYTHON_INTERFACE_H_
#define KSEARCH_GPU_WORKER_RUNNER_PYTHON_PYTHON_INTERFACE_H_

#include <cstdint>

// What this library and ksearch_runner.py, which loads it by ctypes, know of each other. A change
// here is a change there.
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
  // `path`: of the file that defines the entry.
  int (*load)(const char* path);
  // Inputs in the order of the definition, then outputs. addresses[set * count + i] is where the
  // tensor of argument i begins in a set, 0 for scalars. Nothing of it may be kept.
  int (*setup)(const KsearchPythonArgument* arguments, int32_t count, int32_t sets,
               const uint64_t* addresses);
  int (*call)(int32_t set);
  // The words of an exception: kRaisedBytes bytes of the interpreter's, the last one 0.
  const char* raised;
  static constexpr int kRaisedBytes = 2048;
};

// A runner's life (RunDialogue) with a program in Python. The caller holds the interpreter's lock
// and keeps it: threads that the program started run within its calls only.
int ksearch_python_run(int argc, char** argv, const KsearchPythonCallbacks* callbacks);

}  // extern "C"

#endif  // KSEARCH_GPU_WORKER_RUNNER_PYTHON_PYTHON_INTERFACE_H_
