// ksearch-runner [--gpu=UUID] [--gpu-filter=NAME] [--instrumented]: loads one shared object and
// calls it on the verifier's buffers (dialogue.h).
#include <cstdio>
#include <cstring>

#include "gpu_worker/runner/dialogue.h"
#include "gpu_worker/runner/shared_object_program.h"

#ifdef KSEARCH_SANITIZED
// A candidate's signals must end this process as they would without a sanitizer.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:handle_abort=0:"
         "detect_leaks=0:allow_user_segv_handler=1";
}
#endif

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
    std::printf("ksearch-runner %s\n", KSEARCH_VERSION);
    return 0;
  }
  if (!ksearch::HasDialogue()) {
    std::fprintf(stderr,
                 "ksearch-runner loads one candidate for ksearch-verifier, which starts it with a "
                 "socket;\ndo not start it yourself.\n");
    return 2;
  }
  const ksearch::RunnerFlags flags = ksearch::ParseRunnerFlags(argc, argv);
  ksearch::SharedObjectProgram program(flags.gpu.empty() ? "const KsearchArgs*"
                                                         : "const KsearchArgs*, cudaStream_t");
  return ksearch::RunDialogue(flags, program);
}
