#ifndef KSEARCH_TESTS_GPU_WORKER_SANDBOX_UNPRIVILEGED_MAIN_H_
#define KSEARCH_TESTS_GPU_WORKER_SANDBOX_UNPRIVILEGED_MAIN_H_

#include <string>

namespace ksearch {

// Linked with unprivileged_main.cc, a test runs as an ordinary account even when started by root:
// it makes its scratch folder and control group, drops to kDefaultWorkerUid, then runs the tests.

// A folder that this account owns, removed at the end.
const std::string& ScratchFolder();

// A program of the build, copied to where this account can execute it: the build tree may lie in a
// folder that only root can enter.
std::string CopiedProgram(const std::string& name);

// The folder tests/bad_candidates of the source tree, copied for the same reason is
// ScratchFolder() + "/bad_candidates".

// What BubblewrapSandbox::Create said while still root; empty if the test was not started by root.
const std::string& RootRefusal();

}  // namespace ksearch

#endif  // KSEARCH_TESTS_GPU_WORKER_SANDBOX_UNPRIVILEGED_MAIN_H_
