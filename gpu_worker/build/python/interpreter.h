#ifndef KSEARCH_GPU_WORKER_BUILD_PYTHON_INTERPRETER_H_
#define KSEARCH_GPU_WORKER_BUILD_PYTHON_INTERPRETER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// A Python interpreter with torch, in its own description.
struct Interpreter {
  // Absolute, links not followed, because the interpreter of a virtual environment is a link.
  std::string path;
  std::string python;  // "3.11.2"
  std::string torch;   // "2.11.0+cu130": including the CUDA that it was built for
  std::string triton;  // empty: not installed
  // The package that binds or compiles published solutions; empty: none.
  std::string tvm_ffi;
  std::string tilelang;
  // A further requirement of programs on a GPU; empty: it is missing.
  std::string torch_cuda;  // "13.0": the CUDA that torch was built for
  std::string headers;     // the folder of Python.h
  std::string c_compiler;  // path inside the sandbox
  // Folders (and archives) besides the system's that contain it and its packages: absolute, sorted,
  // none within another.
  std::vector<std::string> folders;
};

// "python 3.11.2, torch 2.11.0+cu130, triton 3.6.0", followed by tvm-ffi and tilelang if they are
// installed.
std::string VersionsOf(const Interpreter& interpreter);

// Returns OK if it can run programs on a GPU. FAILED_PRECONDITION names everything that is missing
// and how to get it.
absl::Status CheckGpuParts(const Interpreter& interpreter);

// Returns the path of the interpreter to use: `configured`, otherwise bin/python3 of
// `virtual_environment` (the value of VIRTUAL_ENV), otherwise python3 on PATH. NOT_FOUND lists the
// places searched and says how to get it.
absl::StatusOr<std::string> FindInterpreter(const std::string& configured,
                                            const std::string& virtual_environment);

// Parses the output of describe_interpreter.py, for any bytes; `path` is the interpreter's.
// FAILED_PRECONDITION, with what to do, if it is not CPython 3.9 or newer, has no torch, or would
// show too much of this machine to candidates; INTERNAL if something is missing.
absl::StatusOr<Interpreter> ParseInterpreter(const std::string& path, absl::string_view printed);

// Runs the interpreter at `path`, which takes as long as importing torch. Errors as of
// ParseInterpreter, and FAILED_PRECONDITION if it does not run.
absl::StatusOr<Interpreter> DescribeInterpreter(const std::string& path);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BUILD_PYTHON_INTERPRETER_H_
