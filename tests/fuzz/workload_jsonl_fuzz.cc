// Workloads of a definition with every kind of input: what parses is written and read back the
// same.

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "common/log.h"
#include "coordinator/tasks/definition_json.h"
#include "coordinator/tasks/workload_jsonl.h"
#include "coordinator/tasks/workload_line.h"

namespace {

constexpr char kDefinition[] = R"({"name": "d", "op_type": "o",
  "axes": {"b": {"type": "var"}, "p": {"type": "var"}, "len": {"type": "var"},
           "n": {"type": "var"}, "d": {"type": "const", "value": 8}},
  "inputs": {"q": {"shape": ["b", "d"], "dtype": "float32"},
             "indptr": {"shape": ["len"], "dtype": "int32"},
             "pages": {"shape": ["n"], "dtype": "int32"},
             "scale": {"shape": null, "dtype": "float32"},
             "causal": {"shape": null, "dtype": "bool"}},
  "outputs": {"out": {"shape": ["b", "d"], "dtype": "float32"}}})";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const ksearch::v1::Definition& definition = *new ksearch::v1::Definition(
      ksearch::ParseDefinitionJson(kDefinition, "definition.json").value());
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto workloads = ksearch::ParseWorkloadJsonl(text, "fuzz.jsonl", definition);
  if (!workloads.ok()) {
    CHECK(workloads.status().message().substr(0, 11) == "fuzz.jsonl:");
    return 0;
  }
  for (const ksearch::v1::Workload& workload : *workloads) {
    const std::string line = ksearch::WorkloadToJsonLine("d", workload);
    const auto again = ksearch::ParseWorkloadJsonl(line, "again.jsonl", definition);
    CHECK(again.ok() && again->size() == 1);
    CHECK(again->front().SerializeAsString() == workload.SerializeAsString());
  }
  return 0;
}
