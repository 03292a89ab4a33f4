// Problems in the forms of other suites, from a folder of theirs to a verdict, with a real
// coordinator and a worker with a Python toolchain. Skipped where /usr/bin/python3 has no torch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/common/python_with_torch.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kDefinition[] = R"json({
  "name": "segment_scale", "op_type": "segments", "description": "Scales each segment by its length.",
  "axes": {"n": {"type": "var"}, "len_indptr": {"type": "var"}},
  "inputs": {"x": {"shape": ["n"], "dtype": "float32"},
             "indptr": {"shape": ["len_indptr"], "dtype": "int32"}},
  "outputs": {"y": {"shape": ["n"], "dtype": "float32"}},
  "reference": "import torch\n\ndef run(x, indptr):\n    y = torch.empty_like(x)\n    for i in range(len(indptr) - 1):\n        a, b = int(indptr[i]), int(indptr[i + 1])\n        y[a:b] = x[a:b] * (b - a)\n    return y\n"
})json";

// The first two have their tensor; the file of the last is a pointer.
constexpr char kLines[] =
    R"({"definition": "segment_scale", "workload": {"uuid": "a", "axes": {"n": 600, "len_indptr": 3}, "inputs": {"x": {"type": "random"}, "indptr": {"type": "safetensors", "path": "./blob/a.safetensors", "tensor_key": "indptr"}}}, "solution": null, "evaluation": null}
{"definition": "segment_scale", "workload": {"uuid": "b", "axes": {"n": 600, "len_indptr": 3}, "inputs": {"x": {"type": "random"}, "indptr": {"type": "safetensors", "path": "./blob/a.safetensors", "tensor_key": "indptr"}}}, "solution": null, "evaluation": null}
{"definition": "segment_scale", "workload": {"uuid": "c", "axes": {"n": 600, "len_indptr": 3}, "inputs": {"x": {"type": "random"}, "indptr": {"type": "safetensors", "path": "./blob/c.safetensors", "tensor_key": "indptr"}}}, "solution": null, "evaluation": null}
)";

constexpr char kGood[] =
    "import torch\n\n"
    "def run(x, indptr, y):\n"
    "    lengths = torch.diff(indptr)\n"
    "    torch.mul(x, torch.repeat_interleave(lengths, lengths.long()), out=y)\n";
constexpr char kWrong[] =
    "import torch\n\n"
    "def run(x, indptr):\n"
    "    return x * 300\n";

// Offsets 0, 200, 600.
std::string Blob() {
  const std::string header = R"({"indptr":{"dtype":"I32","shape":[3],"data_offsets":[0,12]}})";
  std::string length(8, '\0');
  length[0] = static_cast<char>(header.size());
  return length + header + std::string("\0\0\0\0\xc8\0\0\0\x58\x02\0\0", 12);
}

class SuitesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!HasTorch()) return;
    cluster_ = new LocalCluster();
    cluster_->UseOwnDevice();
    cluster_->AddToWorkerConfig(kPythonToolchain);
    Write("flashinfer/definitions/segments/segment_scale.json", kDefinition);
    Write("flashinfer/workloads/segments/segment_scale.jsonl", kLines);
    Write("flashinfer/blob/a.safetensors", Blob());
    Write("flashinfer/blob/c.safetensors", "version https://git-lfs.github.com/spec/v1\n");
    cluster_->StartCoordinator(absl::StrCat(
        "suites { kind: 'flashinfer' device: DEVICE_CLASS_CPU path: '", Path("flashinfer"), "' }"));
    cluster_->StartWorker("w1");
  }
  static void TearDownTestSuite() {
    delete cluster_;
    cluster_ = nullptr;
  }
  void SetUp() override {
    if (cluster_ == nullptr) GTEST_SKIP() << kPython << " has no torch";
  }
  static std::string Path(const std::string& name) {
    return absl::StrCat(cluster_->folder(), "/", name);
  }
  static void Write(const std::string& name, const std::string& text) {
    fs::create_directories(fs::path(Path(name)).parent_path());
    std::ofstream(Path(name), std::ios::binary) << text;
  }
  static CommandOutput Check(const std::string& task, const std::string& file) {
    return cluster_->Cli({"eval", "--task", task, "--check-only", Path(file)});
  }

  static LocalCluster* cluster_;
};
LocalCluster* SuitesTest::cluster_ = nullptr;

TEST_F(SuitesTest, DataSetOfFlashInferBenchIsListedAndJudged) {
  const CommandOutput list = cluster_->Cli({"task", "ls", "--suite", "flashinfer"});
  EXPECT_EQ(list.exit.code, 0) << list.err;
  EXPECT_THAT(list.out, AllOf(HasSubstr("flashinfer/segment_scale"), HasSubstr("left out"),
                              Not(HasSubstr("layernorm_f32"))));
  const CommandOutput all = cluster_->Cli({"tasks"});
  EXPECT_THAT(all.out, AllOf(HasSubstr("flashinfer/segment_scale"), HasSubstr("layernorm_f32")));
  const CommandOutput one = cluster_->Cli({"task", "ls", "flashinfer/segment_scale"});
  EXPECT_THAT(one.out, AllOf(HasSubstr("workload c: indptr"), HasSubstr("git lfs pull")));

  Write("good.py", kGood);
  Write("wrong.py", kWrong);
  const CommandOutput good = Check("flashinfer/segment_scale", "good.py");
  EXPECT_EQ(good.exit.code, 0) << good.out << good.err;
  const CommandOutput wrong = Check("flashinfer/segment_scale", "wrong.py");
  EXPECT_EQ(wrong.exit.code, 7) << wrong.out << wrong.err;
  EXPECT_THAT(wrong.out, HasSubstr("incorrect"));
}

}  // namespace
}  // namespace ksearch
