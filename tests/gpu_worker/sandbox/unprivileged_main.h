#ifndef KSEARCH_TESTS_GPU_WORKER_SANDBOX_UNPRIVILEGED_MAIN_H_
#define KSEARCH_TESTS_GPU_WORKER_SANDBOX_UNPRIVILEGED_MAIN_H_

#include <string>

namespace ksearch {

// Linked with unprivileged_main.cc, a test runs as an ordinary account even when started by root:
// it makes its scratch folder and control group, drops to kDefaultWorkerUid, then runs the tests.

// A folder that this account owns, removed at the end.
const std::string& ScratchFolder();

// Returns a copy of a program of the build that this account can execute: the build tree may lie in
// a folder that only root can enter.
std::string CopiedProgram(const std::string& name);

// The folder tests/bad_candidates of the source tree, copied for the same reason is
// ScratchFolder() + "/bad_candidates".

// The error of BubblewrapSandbox::Create while still root; empty if root did not start the test.
const std::string& RootRefusal();

}  // namespace ksearch

#endif  // KSEARCH_TESTS_GPU_WORKER_SANDBOX_UNPRIVILEGED_MAIN_H_
