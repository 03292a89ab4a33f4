// A data set in FlashInfer-Bench's form: the tasks that it becomes, and the messages about the
// rest.
#include "coordinator/suites/flashinfer/flashinfer_suite.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/blob_folder.h"
#include "common/digest.h"
#include "common/textproto.h"
#include "coordinator/suites/recorded_blobs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// A sum over segments, as ragged attention has them.
std::string Definition(const std::string& name, const std::string& op_type = "segments",
                       const std::string& reference =
                           "import torch\\ndef run(x, indptr):\\n"
                           "    return x * 2\\n") {
  return absl::StrCat(R"({"name": ")", name, R"(", "op_type": ")", op_type,
                      R"(", "description": "Doubles.", "tags": ["status:verified"],
  "axes": {"n": {"type": "var"}, "len_indptr": {"type": "var"}},
  "inputs": {"x": {"shape": ["n"], "dtype": "float32"},
             "indptr": {"shape": ["len_indptr"], "dtype": "int32"}},
  "outputs": {"y": {"shape": ["n"], "dtype": "float32"}})",
                      reference.empty() ? "" : absl::StrCat(", \"reference\": \"", reference, "\""),
                      "}");
}

std::string Line(const std::string& definition, const std::string& uuid, const std::string& blob,
                 const std::string& x = R"({"type": "random"})") {
  return absl::StrCat(R"({"definition": ")", definition, R"(", "workload": {"uuid": ")", uuid,
                      R"(", "axes": {"n": 8, "len_indptr": 2}, "inputs": {"x": )", x,
                      R"(, "indptr": {"type": "safetensors", "path": "./blob/)", blob,
                      R"(", "tensor_key": "indptr"}}}, "solution": null, "evaluation": null})",
                      "\n");
}

std::string Blob() {
  const std::string header = R"({"indptr":{"dtype":"I32","shape":[2],"data_offsets":[0,8]}})";
  std::string length(8, '\0');
  length[0] = static_cast<char>(header.size());
  return length + header + std::string("\0\0\0\0\x08\0\0\0", 8);
}

class FlashInferSuiteTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "ksearch-flashinfer-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    Write("definitions/segments/double.json", Definition("double"));
    Write("blob/good.safetensors", Blob());
  }
  void TearDown() override { fs::remove_all(root_); }

  void Write(const fs::path& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path, std::ios::binary) << text;
  }
  std::unique_ptr<TaskSuite> Suite() {
    v1::SuiteConfig config;
    config.set_kind("flashinfer");
    config.set_path(root_.string());
    config.set_device(v1::DEVICE_CLASS_CPU);
    auto suite = MakeFlashInferSuite(config, nullptr);
    EXPECT_TRUE(suite.ok()) << suite.status();
    return *std::move(suite);
  }
  v1::TaskSummary Listed(const std::string& name) {
    for (const v1::TaskSummary& task : Suite()->List()) {
      if (task.name() == name) return task;
    }
    ADD_FAILURE() << name << " is not listed";
    return {};
  }

  fs::path root_;
};

TEST_F(FlashInferSuiteTest, PointersOfGitLfsAreNamed) {
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\n";
  Write("definitions/segments/pointer.json", pointer);
  Write("workloads/segments/double.jsonl", pointer);
  EXPECT_THAT(Listed("pointer").error(), AllOf(HasSubstr("pointer.json"), HasSubstr("git lfs")));
  EXPECT_THAT(Listed("double").error(), AllOf(HasSubstr("double.jsonl"), HasSubstr("git lfs")));
}

TEST_F(FlashInferSuiteTest, BrokenSolutionsAreListedWhereverTheyLieIfTheyNameTheDefinition) {
  Write("workloads/segments/double.jsonl", Line("double", "a", "good.safetensors"));
  Write(
      "solutions/me/rust.json",
      R"({"name": "rust", "definition": "double", "author": "me", "spec": {"language": "rust"}})");
  Write("solutions/me/elsewhere.json", R"({"name": "elsewhere", "definition": "doubled"})");
  Write("solutions/double/cut.json", R"({"name": )");
  const auto solutions = Suite()->Solutions("double");
  ASSERT_TRUE(solutions.ok()) << solutions.status();
  ASSERT_EQ(solutions->size(), 2);
  EXPECT_EQ(solutions->at(0).name(), "cut");
  EXPECT_THAT(solutions->at(1).error(), HasSubstr("rust.json:1: spec.language: 'rust'"));
  EXPECT_THAT(std::string(Suite()->LoadSolution("double", "rust").status().message()),
              HasSubstr("rust.json:1: spec.language"));
}

TEST_F(FlashInferSuiteTest, FilesAndLinesOfNoDefinitionAreListed) {
  Write("workloads/segments/double.jsonl",
        Line("double", "a", "good.safetensors") + Line("treble", "b", "good.safetensors"));
  Write("workloads/segments/garbage\t.jsonl", "garbage\n");
  ASSERT_EQ(mkfifo((root_ / "definitions/segments/pipe.json").c_str(), 0600), 0);
  fs::create_symlink("nowhere", root_ / "definitions/segments/link.json");
  fs::create_symlink("/dev/ptmx", root_ / "definitions/segments/terminal.json");
  fs::create_symlink("/dev/zero", root_ / "workloads/segments/zero.jsonl");
  EXPECT_EQ(Listed("double").error(), "");
  EXPECT_THAT(Listed("treble").error(),
              AllOf(HasSubstr("double.jsonl:2"), HasSubstr("defines its definition, 'treble'")));
  EXPECT_THAT(Listed("garbage_").error(), HasSubstr(".jsonl:1"));
  EXPECT_THAT(Listed("pipe").error(), HasSubstr("pipe.json is a named pipe, not a file"));
  EXPECT_THAT(Listed("link").error(), HasSubstr("link.json: No such file"));
  EXPECT_THAT(Listed("terminal").error(), HasSubstr("is a device, not a file"));
  EXPECT_THAT(Listed("zero").error(), HasSubstr("is a device, not a file"));
}

TEST_F(FlashInferSuiteTest, ScalarOutputsAreTensorsWithoutDimensions) {
  Write("definitions/segments/total.json",
        absl::StrReplaceAll(Definition("total"),
                            {{R"("y": {"shape": ["n"])", R"("y": {"shape": null)"}}));
  Write("workloads/segments/total.jsonl", Line("total", "a", "good.safetensors"));
  const auto task = Suite()->Load("total");
  ASSERT_TRUE(task.ok()) << task.status();
  EXPECT_FALSE(task->definition().outputs(0).scalar());
  EXPECT_EQ(task->definition().outputs(0).shape_size(), 0);
}

TEST_F(FlashInferSuiteTest, DefinitionWithItsLinesIsATask) {
  Write("workloads/segments/double.jsonl", Line("double", "a", "good.safetensors") +
                                               Line("double", "b", "good.safetensors") +
                                               Line("double", "c", "good.safetensors"));
  const auto task = Suite()->Load("double");
  ASSERT_TRUE(task.ok()) << task.status();
  EXPECT_EQ(task->title(), "Doubles.");
  EXPECT_EQ(task->device(), v1::DEVICE_CLASS_CPU);
  EXPECT_EQ(task->tolerance().atol(), 1e-2);
  EXPECT_EQ(task->tolerance().rtol(), 1e-2);
  ASSERT_EQ(task->workloads_size(), 3);
  EXPECT_TRUE(task->workloads(0).inputs(0).has_random());
  EXPECT_EQ(task->workloads(0).inputs(1).recorded().values(), std::string("\0\0\0\0\x08\0\0\0", 8));
  EXPECT_FALSE(task->workloads(0).held_out());
  EXPECT_TRUE(task->workloads(2).held_out());
  ASSERT_EQ(task->references_size(), 1);
  EXPECT_EQ(task->references(0).language(), v1::LANGUAGE_PYTHON);
  EXPECT_EQ(task->references(0).files(0).content(), task->definition().reference_text());
  ASSERT_EQ(task->baselines_size(), 1);

  const v1::TaskSummary summary = Listed("double");
  EXPECT_EQ(summary.error(), "");
  EXPECT_EQ(summary.feedback_workloads(), 2);
  EXPECT_EQ(summary.held_out_workloads(), 1);
  EXPECT_THAT(summary.tags(), ElementsAre("status:verified"));
  EXPECT_EQ(summary.left_out_size(), 0);
}

TEST_F(FlashInferSuiteTest, LargeRecordedTensorsAreBlobsThatAreKeptAsTheTaskIsLoaded) {
  const auto folder = *BlobFolder::Open((root_ / "kept").string());
  RecordedBlobs blobs(folder.get());
  constexpr int64_t kElements = kMaxInlineTensorBytes / 4 + 1;
  const std::string bytes(static_cast<size_t>(kElements * 4), '\x01');
  const std::string header = absl::StrCat(R"({"indptr":{"dtype":"I32","shape":[)", kElements,
                                          R"(],"data_offsets":[0,)", kElements * 4, "]}}");
  std::string length(8, '\0');
  length[0] = static_cast<char>(header.size());
  Write("blob/large.safetensors", length + header + bytes);
  std::string line = Line("double", "a", "large.safetensors");
  line.replace(line.find("\"len_indptr\": 2"), 15, absl::StrCat("\"len_indptr\": ", kElements));
  Write("workloads/double.jsonl", line + Line("double", "b", "good.safetensors"));
  v1::SuiteConfig config;
  config.set_path(root_.string());
  const auto suite = MakeFlashInferSuite(config, &blobs);
  ASSERT_TRUE(suite.ok()) << suite.status();
  EXPECT_EQ((*suite)->List()[0].error(), "");
  EXPECT_FALSE(folder->Has(Sha256Hex(bytes))) << "a list copies nothing";
  const auto task = (*suite)->Load("double");
  ASSERT_TRUE(task.ok()) << task.status();
  const v1::RecordedRecipe& recorded = task->workloads(0).inputs(1).recorded();
  EXPECT_EQ(recorded.sha256(), Sha256Hex(bytes));
  EXPECT_EQ(recorded.bytes(), kElements * 4);
  EXPECT_EQ(recorded.values(), "");
  EXPECT_TRUE(folder->Has(recorded.sha256()));
  EXPECT_EQ(task->workloads(1).inputs(1).recorded().values().size(), 8u);
  // Without a place for blobs, the tensor is sent with its task.
  EXPECT_EQ(Suite()->Load("double")->workloads(0).inputs(1).recorded().values(), bytes);
  // Another content is another task.
  Write("blob/large.safetensors", length + header + std::string(bytes.size(), '\x02'));
  EXPECT_NE((*suite)->Load("double")->workloads(0).inputs(1).recorded().sha256(),
            recorded.sha256());
}

TEST_F(FlashInferSuiteTest, OnlyWorkloadIsAlsoHeldOut) {
  Write("workloads/double.jsonl", Line("double", "a", "good.safetensors"));
  const auto task = Suite()->Load("double");
  ASSERT_TRUE(task.ok()) << task.status();
  ASSERT_EQ(task->workloads_size(), 2);
  EXPECT_FALSE(task->workloads(0).held_out());
  EXPECT_TRUE(task->workloads(1).held_out());
  EXPECT_EQ(task->workloads(1).uuid(), "a_held_out");
}

TEST_F(FlashInferSuiteTest, LinesThatCannotBeEvaluatedAreLeftOutWithTheReason) {
  Write("blob/pointer.safetensors", "version https://git-lfs.github.com/spec/v1\n");
  Write("workloads/segments/double.jsonl",
        Line("double", "good", "good.safetensors") + Line("double", "gone", "gone.safetensors") +
            Line("double", "pointer", "pointer.safetensors") +
            Line("double", "out", "../../etc/passwd") + Line("double", "good", "good.safetensors") +
            Line("double", "kind", "good.safetensors", R"({"type": "moon"})") +
            Line("double", "all", "good.safetensors",
                 R"({"type": "safetensors", "path": "a", "tensor_key": "x"})") +
            "{broken\n");
  const v1::TaskSummary summary = Listed("double");
  EXPECT_EQ(summary.error(), "");
  EXPECT_EQ(summary.feedback_workloads(), 1);
  EXPECT_THAT(summary.left_out(),
              ElementsAre(AllOf(HasSubstr("workload gone: indptr"), HasSubstr("is not there")),
                          AllOf(HasSubstr("workload pointer"), HasSubstr("git lfs pull")),
                          AllOf(HasSubstr("workload out"), HasSubstr("out of the data set")),
                          AllOf(HasSubstr("double.jsonl:5"), HasSubstr("uuid good")),
                          AllOf(HasSubstr("double.jsonl:6"), HasSubstr("moon")),
                          AllOf(HasSubstr("workload all"), HasSubstr("every tensor is recorded")),
                          HasSubstr("double.jsonl:8")));
}

TEST_F(FlashInferSuiteTest, DefinitionsThatCannotBeUsedDisturbNoOther) {
  Write("workloads/double.jsonl",
        Line("double", "a", "good.safetensors") + Line("sampled", "a", "good.safetensors") +
            Line("bare", "a", "good.safetensors") + Line("no_run", "a", "good.safetensors") +
            Line("pointers", "a", "gone.safetensors"));
  Write("definitions/a/sampled.json", Definition("sampled", "sampling"));
  Write("definitions/a/bare.json", Definition("bare", "segments", ""));
  Write("definitions/a/no_run.json", Definition("no_run", "segments", "import torch"));
  Write("definitions/a/unused.json", Definition("unused"));
  Write("definitions/a/pointers.json", Definition("pointers"));
  Write("definitions/a/broken.json", "{");
  EXPECT_EQ(Listed("double").error(), "");
  EXPECT_THAT(Listed("sampled").error(),
              HasSubstr("upstream judges op_type sampling by the tokens drawn from 'probs'"));
  EXPECT_THAT(Listed("bare").error(), HasSubstr("reference: is missing"));
  EXPECT_THAT(Listed("no_run").error(), HasSubstr("no function run"));
  EXPECT_THAT(Listed("unused").error(), HasSubstr("no line of"));
  EXPECT_THAT(Listed("pointers").error(),
              AllOf(HasSubstr("none of its 1 workloads"), HasSubstr("gone.safetensors")));
  EXPECT_THAT(Listed("broken").error(), HasSubstr("broken.json:1"));
  EXPECT_EQ(Suite()->Load("broken").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(Suite()->Load("doubel").status().message()), HasSubstr("double"));
}

TEST_F(FlashInferSuiteTest, ReferenceThatNoPythonReadsIsNamedBeforeItIsRun) {
  const auto error = [&](const std::string& reference) {
    Write("definitions/a/faulty.json", Definition("faulty", "segments", reference));
    Write("workloads/faulty.jsonl", Line("faulty", "a", "good.safetensors"));
    return Listed("faulty").error();
  };
  EXPECT_THAT(error("import torch\\ndef run(x, indptr):\\n    return (x\\n"),
              HasSubstr("faulty.json: reference: line 3: '(' is never closed"));
  EXPECT_THAT(error("class A:\\n    def run(x, indptr):\\n        return x\\n"),
              HasSubstr("defines no function run at its top level"));
  EXPECT_THAT(error("async def run(x, indptr):\\n    return x\\n"),
              HasSubstr("defines no function run at its top level"));
  EXPECT_THAT(error("def run(x):\\n    return x\\n"),
              HasSubstr("run has 1 parameters, and the definition has 2 inputs"));
  EXPECT_EQ(error("def run(x, *rest):\\n    return x\\n"), "");
  EXPECT_EQ(error("def run(x, indptr, y):\\n    y.copy_(x)\\n"), "");
}

TEST_F(FlashInferSuiteTest, TensorsThatALineSaysNothingOfAreDrawnAsUpstreamDoes) {
  Write("definitions/a/scaled.json",
        absl::StrReplaceAll(Definition("scaled", "segments", "def run(x, indptr, s): return x"),
                            {{R"("dtype": "int32"}})",
                              R"("dtype": "int32"}, "s": {"shape": null, "dtype": "float32"}})"}}));
  const auto line = [](const std::string& uuid, const std::string& inputs) {
    return absl::StrCat(R"({"definition": "scaled", "workload": {"uuid": ")", uuid,
                        R"(", "axes": {"n": 8, "len_indptr": 2}, "inputs": {)", inputs, "}}}\n");
  };
  Write("workloads/scaled.jsonl",
        line("a", R"("s": {"type": "scalar", "value": 2.5})") + line("b", "") +
            line("c", R"("x": {"type": "random"}, "s": {"type": "random"})"));
  const auto task = Suite()->Load("scaled");
  ASSERT_TRUE(task.ok()) << task.status();
  ASSERT_EQ(task->workloads(0).inputs_size(), 3);
  EXPECT_TRUE(task->workloads(0).inputs(0).has_random());
  EXPECT_TRUE(task->workloads(0).inputs(1).has_random());
  EXPECT_EQ(task->workloads(0).inputs(1).random().most(), 1023);
  EXPECT_THAT(Listed("scaled").left_out(),
              ElementsAre(AllOf(HasSubstr("scaled.jsonl:2: workload.inputs.s: is missing: a scalar "
                                          "needs a value")),
                          AllOf(HasSubstr("scaled.jsonl:3: workload.inputs.s.type: a scalar needs "
                                          "a value"))));
}

// The data set of tests/integration/data/flashinfer.
class FlashInferSolutionsTest : public testing::Test {
 protected:
  static constexpr char kTask[] = "scaled_rmsnorm_h64";
  FlashInferSolutionsTest() {
    v1::SuiteConfig config;
    config.set_path(Path(""));
    config.set_device(v1::DEVICE_CLASS_CPU);
    auto suite = MakeFlashInferSuite(config, nullptr);
    EXPECT_TRUE(suite.ok()) << suite.status();
    suite_ = *std::move(suite);
  }
  static std::string Path(const std::string& name) {
    return absl::StrCat(std::getenv("KSEARCH_SOURCE_DIR"), "/tests/integration/data/flashinfer/",
                        name);
  }
  static v1::Sources File(const std::string& author, const std::string& solution) {
    const std::string path =
        Path(absl::StrCat("solutions/", author, "/rmsnorm/", kTask, "/", solution, ".json"));
    v1::Sources sources;
    sources.set_language(v1::LANGUAGE_CPP);  // what the command line takes it for
    sources.add_files()->set_path(solution + ".json");
    sources.mutable_files(0)->set_content(ReadFile(path, 1 << 20).value_or(""));
    return sources;
  }

  std::unique_ptr<TaskSuite> suite_;
};

TEST_F(FlashInferSolutionsTest, AreListedWithWhatIsOnRecordAndWhyTheyCannotBeJudged) {
  const auto solutions = suite_->Solutions(kTask);
  ASSERT_TRUE(solutions.ok()) << solutions.status();
  std::map<std::string, v1::SolutionSummary> by_name;
  std::string names;
  for (const v1::SolutionSummary& each : *solutions) {
    by_name[each.name()] = each;
    absl::StrAppend(&names, each.name(), " ");
  }
  EXPECT_EQ(names,
            "rmsnorm_broken_v1 rmsnorm_cpp_ffi_v1 rmsnorm_cpp_torch_v1 rmsnorm_parts_v1 "
            "rmsnorm_torch_v1 rmsnorm_triton_v1 rmsnorm_uncompilable_v1 rmsnorm_wrong_v1 ");
  const v1::SolutionSummary& baseline = by_name["rmsnorm_torch_v1"];
  EXPECT_EQ(baseline.author(), "baseline");
  EXPECT_EQ(baseline.language(), "python");
  EXPECT_EQ(baseline.binding(), "");
  EXPECT_EQ(baseline.error(), "");
  EXPECT_TRUE(baseline.is_baseline());
  EXPECT_EQ(baseline.recorded(), "3 of 3 passed on Test Device 1, 4.00x its reference");
  const v1::SolutionSummary& parts = by_name["rmsnorm_parts_v1"];
  EXPECT_FALSE(parts.is_baseline());
  EXPECT_EQ(parts.recorded(), "1 of 2 passed on Test Device 1, 3.00x its reference");
  EXPECT_EQ(by_name["rmsnorm_cpp_torch_v1"].binding(), "torch");
  EXPECT_THAT(by_name["rmsnorm_cpp_torch_v1"].dependencies(), ElementsAre("torch"));
  EXPECT_EQ(by_name["rmsnorm_cpp_ffi_v1"].binding(), "tvm-ffi");
  EXPECT_THAT(by_name["rmsnorm_cpp_ffi_v1"].packages(), ElementsAre("tvm-ffi"));
  EXPECT_THAT(by_name["rmsnorm_triton_v1"].error(), HasSubstr("timed on processors"));
  EXPECT_THAT(by_name["rmsnorm_broken_v1"].error(),
              AllOf(HasSubstr("rmsnorm_broken_v1.json"), HasSubstr("other.py")));
  EXPECT_TRUE(absl::IsNotFound(suite_->Solutions("nosuch").status()));
}

TEST_F(FlashInferSolutionsTest, AreProgramsByNameAndByFile) {
  const auto named = suite_->LoadSolution(kTask, "rmsnorm_parts_v1");
  ASSERT_TRUE(named.ok()) << named.status();
  EXPECT_EQ(named->language(), v1::LANGUAGE_PYTHON);
  EXPECT_EQ(named->files_size(), 3);
  v1::Sources file = File("suite", "rmsnorm_parts_v1");
  ASSERT_TRUE(suite_->Adapt(kTask, &file).ok());
  EXPECT_EQ(file.SerializeAsString(), named->SerializeAsString());
  v1::Sources plain = File("baseline", "rmsnorm_torch_v1");
  ASSERT_TRUE(suite_->Adapt(kTask, &plain).ok());
  EXPECT_EQ(plain.files_size(), 1);
  EXPECT_EQ(plain.files(0).path(), "main.py");

  // Another program is left alone.
  v1::Sources other = plain;
  ASSERT_TRUE(suite_->Adapt(kTask, &other).ok());
  EXPECT_EQ(other.SerializeAsString(), plain.SerializeAsString());

  const absl::Status unknown = suite_->LoadSolution(kTask, "rmsnorm_torch_v2").status();
  EXPECT_TRUE(absl::IsNotFound(unknown));
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("rmsnorm_torch_v1"));
  EXPECT_THAT(std::string(suite_->LoadSolution(kTask, "rmsnorm_triton_v1").status().message()),
              HasSubstr("timed on processors"));
  v1::Sources broken = File("suite", "rmsnorm_broken_v1");
  EXPECT_THAT(std::string(suite_->Adapt(kTask, &broken).message()),
              AllOf(HasSubstr("rmsnorm_broken_v1.json:"), HasSubstr("spec.entry_point")));
}

// A whole copy of the public data set on this disk, which KSEARCH_FLASHINFER_TRACE names, is
// listed. Returns the lines of a data set's workloads by definition.
std::map<std::string, int> LinesOf(const std::string& root) {
  std::map<std::string, int> lines;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(root) / "workloads")) {
    if (entry.path().extension() != ".jsonl") continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) ++lines[entry.path().stem().string()];
  }
  return lines;
}

TEST(FlashInferDataSetTest, EveryDefinitionAndLineIsAccountedFor) {
  const char* root = std::getenv("KSEARCH_FLASHINFER_TRACE");
  if (root == nullptr) GTEST_SKIP() << "KSEARCH_FLASHINFER_TRACE is not set";
  v1::SuiteConfig config;
  config.set_path(root);
  const auto folder = *BlobFolder::Open(testing::TempDir() + "/ksearch-data-set-blobs");
  RecordedBlobs blobs(folder.get());
  const auto suite = MakeFlashInferSuite(config, &blobs);
  ASSERT_TRUE(suite.ok()) << suite.status();
  const auto listed = (*suite)->List();
  std::map<std::string, int> lines = LinesOf(root);
  int tasks = 0, workloads = 0, left_out = 0;
  for (const v1::TaskSummary& task : listed) {
    int own = 0;  // lines that are workloads
    if (task.error().empty()) {
      const auto loaded = (*suite)->Load(task.name());
      ASSERT_TRUE(loaded.ok()) << loaded.status();
      ++tasks;
      // A case that is the only one is held out once more.
      for (const v1::Workload& workload : loaded->workloads()) {
        own += absl::EndsWith(workload.uuid(), "_held_out") ? 0 : 1;
      }
      EXPECT_EQ(own + task.left_out_size(), lines[task.name()]) << task.name();
    }
    workloads += own;
    left_out += lines[task.name()] - own;
    lines.erase(task.name());
    if (!task.error().empty() || task.left_out_size() > 0) {
      std::printf("%s: %s; %d left out%s%s\n", task.name().c_str(), task.error().c_str(),
                  task.left_out_size(), task.left_out_size() > 0 ? ", the first: " : "",
                  task.left_out_size() > 0 ? task.left_out(0).c_str() : "");
    }
  }
  for (const auto& [definition, count] : lines) {
    ADD_FAILURE() << count << " lines of " << definition << " belong to no definition listed";
  }
  std::printf("%zu definitions, %d of them tasks; %d workloads, %d lines left out\n", listed.size(),
              tasks, workloads, left_out);
}

}  // namespace
}  // namespace ksearch
