#ifndef KSEARCH_TESTS_INTEGRATION_GPUMODE_CLUSTER_H_
#define KSEARCH_TESTS_INTEGRATION_GPUMODE_CLUSTER_H_

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/integration/local_cluster.h"
#include "tests/integration/python_cluster.h"

namespace ksearch {

// A cluster for problems in GPU MODE's form: suite "gpumode" has those in kFolder, suite "bad"
// those that a test suite writes. Tests are skipped where /usr/bin/python3 has no torch.
class GpuModeClusterTest : public PythonClusterTest {
 protected:
  static constexpr char kFolder[] = "tests/integration/data/gpumode";

  // For SetUpTestSuite. `write` calls WriteBad for each problem.
  static void Start(const std::function<void()>& write) {
    if (!MakeCluster()) return;
    write();
    cluster_->StartCoordinator(
        absl::StrCat("suites { kind: 'gpumode' device: DEVICE_CLASS_CPU path: '",
                     LocalCluster::SourcePath(kFolder),
                     "' }\nsuites { kind: 'gpumode' name: 'bad' device: DEVICE_CLASS_CPU path: '",
                     cluster_->folder(), "' }"));
    cluster_->StartWorker("w1");
  }

  // `files`: texts by name.
  static void WriteBad(const std::string& problem,
                       const std::map<std::string, std::string>& files) {
    const std::filesystem::path folder =
        std::filesystem::path(cluster_->folder()) / "problems/bad" / problem;
    std::filesystem::create_directories(folder);
    for (const auto& [name, text] : files) std::ofstream(folder / name) << text;
  }
  static CommandOutput Judge(const std::string& problem, const std::string& submission,
                             std::vector<std::string> how) {
    how.insert(how.begin(),
               {"eval", "--task", "gpumode/" + problem,
                LocalCluster::SourcePath(absl::StrCat(kFolder, "/submissions/", submission))});
    return cluster_->Cli(how);
  }
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_INTEGRATION_GPUMODE_CLUSTER_H_
