#ifndef KSEARCH_GPU_WORKER_BUILD_PYTHON_INTERPRETER_H_
#define KSEARCH_GPU_WORKER_BUILD_PYTHON_INTERPRETER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ksearch {

// A Python interpreter with torch, as it described itself.
struct Interpreter {
  // Absolute, links not followed: the interpreter of a virtual environment is one.
  std::string path;
  std::string python;  // "3.11.2"
  std::string torch;   // "2.11.0+cu130": with the CUDA that it was built for
  std::string triton;  // empty: there is none
  // What binds or compiles published solutions; empty: there is none.
  std::string tvm_ffi;
  std::string tilelang;
  // What programs on a GPU also need; empty: it is missing.
  std::string torch_cuda;  // "13.0": the CUDA that torch was built for
  std::string headers;     // the folder of Python.h
  std::string c_compiler;  // as the sandbox sees it
  // Folders (archives, too) beside the system's that it and its packages lie in: absolute, sorted,
  // none within another.
  std::vector<std::string> folders;
};

// "python 3.11.2, torch 2.11.0+cu130, triton 3.6.0", and behind it tvm-ffi and tilelang if there.
std::string VersionsOf(const Interpreter& interpreter);

// Whether it can run programs on a GPU: FAILED_PRECONDITION names all that is missing and how to
// get it.
absl::Status CheckGpuParts(const Interpreter& interpreter);

// The path of the interpreter to use: `configured`, or else bin/python3 of `virtual_environment`
// (what VIRTUAL_ENV says), or else python3 on PATH. NOT_FOUND says where it was looked for and how
// to get it.
absl::StatusOr<std::string> FindInterpreter(const std::string& configured,
                                            const std::string& virtual_environment);

// What describe_interpreter.py printed, for any bytes; `path` is the interpreter's.
// FAILED_PRECONDITION, with what to do, if it is not CPython 3.9 or newer, has no torch, or would
// show too much of this machine to candidates; INTERNAL if something is missing.
absl::StatusOr<Interpreter> ParseInterpreter(const std::string& path, absl::string_view printed);

// Asks the interpreter at `path`, which takes as long as importing torch. As ParseInterpreter, and
// FAILED_PRECONDITION if it does not run.
absl::StatusOr<Interpreter> DescribeInterpreter(const std::string& path);

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_BUILD_PYTHON_INTERPRETER_H_
