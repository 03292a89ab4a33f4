// Answers cases that the scripts beside it also put to published programs: one JSON object a line,
// whose field "case" names the question (agreement_case.h); one line of JSON answers each.
//   ksearch_agreement_bench < cases.jsonl > answers.jsonl
#include <cstdio>
#include <iostream>
#include <string>

#include "bench/agreement/agreement_case.h"
#include "common/log.h"
#include "google/protobuf/util/json_util.h"

namespace ksearch {

void ReadMessage(const Json& json, google::protobuf::Message* message) {
  const auto status = google::protobuf::util::JsonStringToMessage(json.dump(), message);
  CHECK_OK(status);
}

namespace {

struct Row {
  const char* name;
  Json (*answer)(const Json&);
};

constexpr Row kRows[] = {
    {"edited_tree", EditedTree}, {"trace", Trace},        {"draws", Draws},
    {"inserted", Inserted},      {"models", ModelShares},
};

int Run() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const Json each = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    const std::string name = each.is_object() ? each.value("case", "") : "";
    const Row* found = nullptr;
    for (const Row& row : kRows) {
      if (name == row.name) found = &row;
    }
    if (found == nullptr) {
      std::fprintf(stderr, "no such case: %.200s\n", line.c_str());
      return 2;
    }
    std::cout << found->answer(each).dump() << "\n";
  }
  return 0;
}

}  // namespace
}  // namespace ksearch

int main() { return ksearch::Run(); }
