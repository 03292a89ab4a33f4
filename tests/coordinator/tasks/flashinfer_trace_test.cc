// Definitions and workloads of the public FlashInfer-trace data set load, and what is written is
// what was read.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "coordinator/tasks/definition_json.h"
#include "coordinator/tasks/workload_jsonl.h"
#include "coordinator/tasks/workload_line.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string Contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::vector<fs::path> FilesBelow(const fs::path& folder, const std::string& extension) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == extension) files.push_back(entry.path());
  }
  return files;
}

struct Counts {
  int definitions = 0;
  int workloads = 0;
};

Counts CheckDataSet(const fs::path& root) {
  Counts counts;
  std::map<std::string, v1::Definition> definitions;
  for (const fs::path& path : FilesBelow(root / "definitions", ".json")) {
    const std::string text = Contents(path);
    const auto definition = ParseDefinitionJson(text, path.string());
    EXPECT_TRUE(definition.ok()) << definition.status();
    if (!definition.ok()) continue;
    // The same JSON, but for the order of top-level members, one member of tensors that the format
    // does not know, and empty lists, which are as good as none.
    nlohmann::json want = nlohmann::json::parse(text);
    for (auto& input : want["inputs"]) input.erase("optional");
    if (want.contains("constraints") && want["constraints"].empty()) want.erase("constraints");
    const std::string written = DefinitionToJson(*definition);
    EXPECT_EQ(nlohmann::json::parse(written), want) << path;
    // Order matters in these three.
    for (const char* group : {"axes", "inputs", "outputs"}) {
      std::vector<std::string> names, written_names;
      const Json original = Json::parse(text), again = Json::parse(written);
      for (const auto& item : original[group].items()) names.push_back(item.key());
      for (const auto& item : again[group].items()) written_names.push_back(item.key());
      EXPECT_EQ(written_names, names) << path;
    }
    definitions[definition->name()] = *definition;
    ++counts.definitions;
  }
  for (const fs::path& path : FilesBelow(root / "workloads", ".jsonl")) {
    const std::string text = Contents(path);
    const auto definition = definitions.find(path.stem().string());
    EXPECT_NE(definition, definitions.end()) << path;
    if (definition == definitions.end()) continue;
    const auto workloads = ParseWorkloadJsonl(text, path.string(), definition->second);
    EXPECT_TRUE(workloads.ok()) << workloads.status();
    if (!workloads.ok()) continue;
    size_t begin = 0;
    for (const v1::Workload& workload : *workloads) {
      const size_t end = text.find('\n', begin);
      const std::string line = text.substr(begin, end - begin);
      begin = end == std::string::npos ? text.size() : end + 1;
      EXPECT_EQ(nlohmann::json::parse(WorkloadToJsonLine(definition->first, workload)),
                nlohmann::json::parse(line))
          << path;
      ++counts.workloads;
    }
    EXPECT_EQ(begin, text.size()) << path;
  }
  return counts;
}

TEST(FlashInferTraceTest, PickedFilesRoundTrip) {
  const Counts counts = CheckDataSet(fs::path(std::getenv("KSEARCH_SOURCE_DIR")) /
                                     "tests/coordinator/tasks/data/flashinfer_trace");
  EXPECT_EQ(counts.definitions, 4);
  EXPECT_EQ(counts.workloads, 9);
}

TEST(FlashInferTraceTest, WholeDataSetRoundTrips) {
  const char* root = std::getenv("KSEARCH_FLASHINFER_TRACE");
  if (root == nullptr) GTEST_SKIP() << "KSEARCH_FLASHINFER_TRACE is not set";
  const Counts counts = CheckDataSet(root);
  EXPECT_GE(counts.definitions, 156);
  EXPECT_GE(counts.workloads, 663);
}

}  // namespace
}  // namespace ksearch
