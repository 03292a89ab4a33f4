#include "tests/gpu_worker/sandbox/unprivileged_main.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "common/log.h"
#include "common/shutdown.h"
#include "gpu_worker/sandbox/bubblewrap_sandbox.h"
#include "gpu_worker/sandbox/cgroup.h"
#include "gpu_worker/sandbox/privileges.h"

namespace ksearch {
namespace {

std::string& Scratch() {
  static std::string* const scratch = new std::string;
  return *scratch;
}

std::string& Refusal() {
  static std::string* const refusal = new std::string;
  return *refusal;
}

// Copies every program of the build that a test may request.
void CopyPrograms(const std::string& folder) {
  const char* bin = std::getenv("KSEARCH_BIN_DIR");
  const std::string from = bin != nullptr ? bin : KSEARCH_TEST_BIN_DIR;
  for (const char* name :
       {"ksearch-misbehaving-program", "ksearch-tight-filter-program", "ksearch-system-call-tracer",
        "ksearch-verifier", "ksearch-runner", "ksearch-scripted-verifier",
        "libksearch_python_runner.so", "ksearch_runner.py", "ksearch_runner_modules"}) {
    std::error_code ignored;
    std::filesystem::copy(from + "/" + name, folder + "/" + name,
                          std::filesystem::copy_options::recursive, ignored);
  }
  std::error_code ignored;
  std::filesystem::copy(from + "/../candidates", folder + "/../candidates", ignored);
  if (const char* source = std::getenv("KSEARCH_SOURCE_DIR"); source != nullptr) {
    std::filesystem::copy(std::string(source) + "/tests/bad_candidates",
                          folder + "/../bad_candidates", std::filesystem::copy_options::recursive,
                          ignored);
  }
}

}  // namespace

const std::string& ScratchFolder() { return Scratch(); }
const std::string& RootRefusal() { return Refusal(); }
std::string CopiedProgram(const std::string& name) { return Scratch() + "/bin/" + name; }

}  // namespace ksearch

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  std::string folder = "/tmp/ksearch-test-XXXXXX";
  CHECK(::mkdtemp(folder.data()) != nullptr);
  ksearch::Scratch() = folder;
  std::filesystem::create_directory(folder + "/bin");
  ksearch::CopyPrograms(folder + "/bin");
  if (::geteuid() == 0) {
    ksearch::BubblewrapSandbox::Options options;
    options.bubblewrap_path = "/usr/bin/bwrap";
    const auto refused = ksearch::BubblewrapSandbox::Create(std::move(options));
    ksearch::Refusal() = refused.status().ToString();
    const uid_t uid = ksearch::kDefaultWorkerUid;
    const absl::Status prepared = ksearch::CgroupParent::Prepare(uid, uid);
    if (!prepared.ok()) std::fprintf(stderr, "no cgroup: %s\n", prepared.ToString().c_str());
    CHECK(::chown(folder.c_str(), uid, uid) == 0);
    CHECK_OK(ksearch::DropPrivileges(uid, uid));
  }
  const int result = RUN_ALL_TESTS();
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return result;
}
