// Every CUDA task shipped here loads, has work formulas with values in a sensible range, and
// compiles for a GPU without a warning.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/kernel_header.h"
#include "common/subprocess.h"
#include "common/work_formula.h"
#include "coordinator/tasks/directory_suite.h"
#include "coordinator/tasks/task_folder.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;

std::string TaskRoot() {
  const char* root = getenv("KSEARCH_SOURCE_DIR");
  return absl::StrCat(root == nullptr ? "." : root, "/configs/tasks/cuda");
}

std::vector<v1::Task> Tasks() {
  const auto suite = MakeDirectorySuite({TaskRoot()});
  EXPECT_TRUE(suite.ok()) << suite.status();
  std::vector<v1::Task> tasks;
  for (const v1::TaskSummary& summary : (*suite)->List()) {
    EXPECT_EQ(summary.error(), "") << summary.name();
    const auto task = (*suite)->Load(summary.name());
    if (task.ok()) tasks.push_back(*task);
  }
  return tasks;
}

TEST(CudaTaskFoldersTest, AllLoadWithEnoughWorkloadsOfBothKinds) {
  std::set<std::string> names;
  for (const v1::Task& task : Tasks()) {
    names.insert(task.name());
    int held_out = 0;
    for (const v1::Workload& workload : task.workloads()) held_out += workload.held_out() ? 1 : 0;
    EXPECT_GE(held_out, 3) << task.name();
    EXPECT_GE(task.workloads_size() - held_out, 5) << task.name();
    EXPECT_EQ(task.device(), v1::DEVICE_CLASS_CUDA);
    EXPECT_GT(task.tolerance().rms_yardstick(), 0) << task.name();
  }
  EXPECT_THAT(names, testing::ElementsAre("gemm_bf16", "gqa_paged_decode", "mla_paged_decode",
                                          "mla_paged_prefill", "moe_fp8_block_scale",
                                          "rmsnorm_bf16", "trimul", "trimul_upstream"));
}

TEST(CudaTaskFoldersTest, PagedTasksHaveBothLayoutsAndEmptySequences) {
  for (const v1::Task& task : Tasks()) {
    if (!absl::StrContains(task.name(), "paged")) continue;
    bool contiguous = false, scattered = false, may_be_empty = false;
    for (const v1::Workload& workload : task.workloads()) {
      for (const v1::InputRecipe& recipe : workload.inputs()) {
        contiguous |= recipe.has_page_indices() && recipe.page_indices().contiguous();
        scattered |= recipe.has_page_indices() && !recipe.page_indices().contiguous();
        may_be_empty |= recipe.has_indptr() && recipe.indptr().min_length() == 0;
      }
    }
    EXPECT_TRUE(contiguous && scattered && may_be_empty) << task.name();
  }
}

double Work(const v1::Task& task, const v1::Workload& workload, const std::string& formula) {
  absl::flat_hash_map<std::string, int64_t> axes;
  for (const v1::Axis& axis : task.definition().axes()) {
    if (axis.has_const_value()) axes[axis.name()] = axis.const_value();
  }
  for (const v1::AxisValue& axis : workload.axes()) axes[axis.axis()] = axis.value();
  const auto value = EvaluateWorkFormula(formula, axes);
  EXPECT_TRUE(value.ok()) << value.status();
  return value.value_or(-1);
}

// Compares with figures computed by hand.
TEST(CudaTaskFoldersTest, WorkIsThatOfTheMathematics) {
  const std::map<std::string, std::pair<double, double>> expected = {
      // Keys and values of 61519 tokens, 1024 bytes each.
      {"gqa_paged_decode/b64_kv61519_contiguous", {126.5e6, 1.008e9}},
      {"mla_paged_decode/b64_kv75145_contiguous", {89e6, 2.616e9}},
      // 1024 queries see 1024 * 1024 + 1024 * 1025 / 2 keys in all.
      {"mla_paged_prefill/b1_q1024_kv2048_contiguous", {38e6, 54.8e9}},
      {"gemm_bf16/m8192", {167.8e6, 274.9e9}},
      {"rmsnorm_bf16/b16384", {268.4e6, 268.4e6}},
      {"trimul/n1024_b1_d384_nomask_normal", {3222e6, 893e9}},
      {"moe_fp8_block_scale/t1024_experts96", {1.388e9, 90.2e9}},
  };
  size_t found = 0;
  for (const v1::Task& task : Tasks()) {
    for (const v1::Workload& workload : task.workloads()) {
      const double bytes = Work(task, workload, task.work().bytes());
      const double flops = Work(task, workload, task.work().flops());
      EXPECT_GT(bytes, 0) << task.name();
      EXPECT_GT(flops, 0) << task.name();
      const auto it = expected.find(absl::StrCat(task.name(), "/", workload.uuid()));
      if (it == expected.end()) continue;
      ++found;
      EXPECT_NEAR(bytes / it->second.first, 1, 0.01) << it->first;
      EXPECT_NEAR(flops / it->second.second, 1, 0.01) << it->first;
    }
  }
  EXPECT_EQ(found, expected.size());
}

std::string Nvcc() {
  for (const char* path : {"/usr/local/cuda/bin/nvcc", "/usr/bin/nvcc"}) {
    if (access(path, X_OK) == 0) return path;
  }
  return "";
}

TEST(CudaTaskFoldersTest, SourcesCompileWithoutAWarning) {
  if (Nvcc().empty()) GTEST_SKIP() << "there is no nvcc in /usr/local/cuda/bin or /usr/bin";
  std::string pattern = (fs::temp_directory_path() / "ksearch-nvcc-XXXXXX").string();
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  std::vector<std::string> folders;
  std::set<std::string> seen;  // trimul_upstream has the sources of trimul
  for (const v1::Task& task : Tasks()) {
    for (const v1::Sources* sources : {&task.references(0), &task.baselines(0)}) {
      if (!seen.insert(sources->files(0).content()).second) continue;
      folders.push_back(absl::StrCat(pattern, "/", folders.size()));
      fs::create_directory(folders.back());
      const auto header = KernelHeader(task.definition(), v1::DEVICE_CLASS_CUDA);
      ASSERT_TRUE(header.ok()) << header.status();
      std::ofstream(folders.back() + "/ksearch_task.h") << *header;
      std::ofstream(folders.back() + "/program.cu") << sources->files(0).content();
      std::ofstream(folders.back() + "/name") << task.name() << "/" << sources->files(0).path();
    }
  }
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  const auto compile = [&] {
    for (size_t i = next++; i < folders.size(); i = next++) {
      SubprocessOptions options;
      options.argv = {Nvcc(),       "-std=c++20",          "-gencode=arch=compute_90a,code=sm_90a",
                      "-Xcompiler", "-Wall,-Wextra,-fPIC", "-c",
                      "-o",         "program.o",           "program.cu"};
      options.environment["PATH"] = getenv("PATH");
      options.environment["TMPDIR"] = folders[i];
      options.working_directory = folders[i];
      const auto output = RunCommand(options, absl::Minutes(3));
      std::string name;
      std::getline(std::ifstream(folders[i] + "/name"), name);
      const std::lock_guard<std::mutex> lock(mutex);
      ASSERT_TRUE(output.ok()) << output.status();
      EXPECT_EQ(output->exit.code, 0) << name;
      EXPECT_EQ(output->out + output->err, "") << name;
    }
  };
  std::thread second(compile);
  compile();
  second.join();
  fs::remove_all(pattern);
}

}  // namespace
}  // namespace ksearch
