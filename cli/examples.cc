#include "cli/examples.h"

#include <functional>
#include <map>

#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

using Examples = std::map<std::string, std::vector<Example>, std::less<>>;

const Examples& AllExamples() {
  static const Examples& kExamples = *new Examples{
      {"",
       {{"ksearch doctor", "what works here, and what to fix"},
        {"ksearch run --local --task softmax_rows_f32 --model openai/gpt-5.4",
         "run one search on this machine"},
        {"ksearch best last --source", "the best program of the newest run"}}},
      {"run",
       {{"ksearch run --task rmsnorm_bf16 --rounds 40 --parallel 4 --budget-usd 5",
         "40 rounds, four ideas at a time, five dollars at most"},
        {"ksearch run --task rmsnorm_bf16 --dry-run", "what that would cost"},
        {"ksearch run --task rmsnorm_bf16 --detach",
         "start it and return; `ksearch watch` follows it"}}},
      {"compare",
       {{"ksearch compare experiment.textproto --dry-run", "what it would cost, and how long"},
        {"ksearch compare experiment.textproto --html report.html", "run it, or continue it"}}},
      {"eval",
       {{"ksearch eval --task softmax_rows_f32 kernel.cpp", "build, check and time a program"},
        {"ksearch eval --task softmax_rows_f32 --confirm kernel.cpp",
         "is it faster than the baseline?"},
        {"ksearch eval --task softmax_rows_f32 --confirm kernel.cpp --rival other.cpp",
         "is it faster than other.cpp?"},
        {"ksearch eval --task flashinfer/rmsnorm_h4096 --solution rmsnorm_triton_v1",
         "judge a published program"},
        {"ksearch eval --task gemm_bf16 --build-only --architecture sm_90a kernel.cu",
         "what nvcc says, without a GPU"}}},
      {"watch", {{"ksearch watch last", "follow the newest run"}}},
      {"log",
       {{"ksearch log -f last", "what happened so far, then what happens"},
        {"ksearch log last --json", "the same as lines of JSON"}}},
      {"feed",
       {{"ksearch feed --fleet", "workers, jobs and model calls"},
        {"ksearch feed --after 0 --runs --json", "every event of every run, from the first one"}}},
      {"diff",
       {{"ksearch diff last best", "what changed from its parent to the best program"},
        {"ksearch diff last 1a2b 3c4d", "two candidates, by prefixes of their ids"}}},
      {"best", {{"ksearch best last --source > kernel.cu", "save the best kernel"}}},
      {"show", {{"ksearch show last 1a2b --calls", "one candidate with prompts and replies"}}},
      {"recheck",
       {{"ksearch recheck last", "is the best still as fast, on another device?"},
        {"ksearch recheck results/gqa_paged_decode", "is a kernel as fast as its record says?"}}},
      {"memory",
       {{"ksearch memory ls --op-type rmsnorm", "gains of changes on such tasks"},
        {"ksearch memory show last", "which gains the newest run was shown"},
        {"ksearch memory forget --run last", "remove what that run added"}}},
      {"gc",
       {{"ksearch gc --older-than 90d --dry-run", "what would be archived, and how large it is"},
        {"ksearch gc --older-than 90d --archive until-august.db", "archive it, then remove it"}}},
      {"resume", {{"ksearch resume last --rounds 80", "continue, up to 80 rounds in all"}}},
      {"steer",
       {{"ksearch steer pause last", "nothing new starts until `ksearch steer unpause last`"},
        {"ksearch steer score last blocked_rows 0.2", "lower the score of an idea in the tree"},
        {"ksearch steer add last Prefetch --under blocked_rows", "add your own idea"},
        {"ksearch steer give last kernel.cpp", "add your own program, to build on"}}},
      {"export",
       {{"ksearch export last --cassette run.jsonl", "a recording that replays offline"}}},
      {"completion",
       {{"source <(ksearch completion bash)", "complete commands and flags in this shell"}}},
  };
  return kExamples;
}

}  // namespace

const std::vector<Example>& ExamplesOf(absl::string_view command) {
  static const std::vector<Example>& kNone = *new std::vector<Example>;
  const auto it = AllExamples().find(std::string(command));
  return it == AllExamples().end() ? kNone : it->second;
}

std::string ExamplesText(absl::string_view command) {
  const std::vector<Example>& examples = ExamplesOf(command);
  if (examples.empty()) return "";
  std::string text = "Examples:\n";
  for (const Example& example : examples) {
    absl::StrAppend(&text, "  ", example.line, "\n      ", example.text, "\n");
  }
  return text;
}

}  // namespace ksearch
