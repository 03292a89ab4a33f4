#include <cstdio>

#include "gpu_worker/runner/dialogue.h"
#include "gpu_worker/runner/python/python_interface.h"
#include "gpu_worker/runner/python/python_program.h"

int ksearch_python_await() { return ksearch::HasDialogue() && ksearch::AwaitBegin() ? 0 : 1; }

void ksearch_python_mark(int32_t end) { ksearch::PythonProgram::TakeMark(end != 0); }

int ksearch_python_run(int argc, char** argv, const KsearchPythonCallbacks* callbacks) {
  if (!ksearch::HasDialogue()) {
    std::fprintf(stderr,
                 "ksearch_runner.py runs one program for ksearch-verifier, which starts it with a "
                 "socket;\ndo not start it yourself.\n");
    return 2;
  }
  const ksearch::RunnerFlags flags = ksearch::ParseRunnerFlags(argc, argv);
  ksearch::PythonProgram program(*callbacks);
  return ksearch::RunDialogue(flags, program);
}
