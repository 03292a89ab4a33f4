#ifndef KSEARCH_TESTS_INTEGRATION_PYTHON_CLUSTER_H_
#define KSEARCH_TESTS_INTEGRATION_PYTHON_CLUSTER_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/common/python_with_torch.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {

// One cluster for a test suite, whose workers have a Python toolchain. Tests are skipped where
// /usr/bin/python3 has no torch.
class PythonClusterTest : public testing::Test {
 protected:
  // For SetUpTestSuite, which then starts the coordinator and a worker. Returns false if torch is
  // missing.
  static bool MakeCluster() {
    if (!HasTorch()) return false;
    cluster_ = new LocalCluster();
    cluster_->UseOwnDevice();
    cluster_->AddToWorkerConfig(kPythonToolchain);
    return true;
  }
  static void TearDownTestSuite() {
    delete cluster_;
    cluster_ = nullptr;
  }
  void SetUp() override {
    if (cluster_ == nullptr) GTEST_SKIP() << kPython << " has no torch";
  }

  // The path of a file in the cluster's folder.
  static std::string Path(const std::string& name) {
    return absl::StrCat(cluster_->folder(), "/", name);
  }
  static void Write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = Path(name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }

  static inline LocalCluster* cluster_ = nullptr;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_INTEGRATION_PYTHON_CLUSTER_H_
