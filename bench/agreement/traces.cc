// A search by preset paper, replayed from the replies that the published program got: whichever
// question comes next gets the next reply. The trace is what is asked and what each question shows.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/agreement/trees.h"
#include "common/identity.h"
#include "common/log.h"
#include "coordinator/proposer/reply_parser.h"
#include "coordinator/search/world_model_strategy.h"

namespace ksearch {
namespace {

constexpr double kBaselineUs = 1000;
constexpr char kFailed[] = "failed";

std::string TextOf(const std::optional<ShownCode>& code) {
  return code.has_value() && code->sources.files_size() > 0 ? code->sources.files(0).content()
                                                            : "none";
}

// A program is a number, as text.
v1::Sources Program(const std::string& text) {
  v1::Sources sources;
  sources.set_language(v1::LANGUAGE_CPP);
  v1::SourceFile* file = sources.add_files();
  file->set_path("kernel.cpp");
  file->set_content(text);
  return sources;
}

Proposer PlainProposer() {
  Proposer proposer;
  proposer.code_prompt = [](const PromptFacts&, const CodePromptContext& context) {
    constexpr const char* kKinds[] = {"spec", "base", "debug", "improve", "repair"};
    Prompt prompt;
    prompt.user =
        absl::StrCat("code ", context.node.node_id(), " ", context.attempt, " ",
                     kKinds[static_cast<int>(context.kind)], " base=", TextOf(context.base),
                     " current=", TextOf(context.current));
    return prompt;
  };
  proposer.world_model_prompt = [](const PromptFacts&, const WorldModelPromptContext& context) {
    constexpr const char* kKinds[] = {"init", "propose", "refine", "too_hard"};
    Prompt prompt;
    prompt.user = absl::StrCat(kKinds[static_cast<int>(context.kind)], " ", context.node_id,
                               " code=", TextOf(context.code));
    return prompt;
  };
  proposer.parse_code = [](const std::string& reply, v1::Language) -> absl::StatusOr<v1::Sources> {
    return Program(reply);
  };
  EditReplyOptions reading;
  reading.clamp = true;
  // Replies name programs as the published system does: by their texts.
  proposer.parse_edits = [reading](const std::string& reply) {
    auto script = ParseEditReply(reply, reading);
    if (!script.ok()) return script;
    for (v1::EditOp& op : *script->mutable_ops()) {
      if (!op.has_insert() || op.insert().parent_candidate_id().empty()) continue;
      op.mutable_insert()->set_parent_candidate_id(
          CandidateId(Program(op.insert().parent_candidate_id())));
    }
    return script;
  };
  proposer.read_confirmation = [](const v1::Task&, const v1::JobResult&, const std::string&) {
    return std::vector<std::string>();
  };
  return proposer;
}

v1::JobResult Screened(const Json& us) {
  v1::JobResult result;
  if (us == kFailed) {
    result.set_outcome(v1::OUTCOME_INCORRECT);
    return result;
  }
  result.set_outcome(v1::OUTCOME_PASSED);
  v1::WorkloadResult* workload = result.add_workloads();
  workload->set_workload_uuid("w");
  workload->set_outcome(v1::OUTCOME_PASSED);
  workload->mutable_candidate()->set_median_us(us.get<double>());
  workload->mutable_baseline()->set_median_us(kBaselineUs);
  return result;
}

SearchContext ContextOf(const Json& each) {
  SearchContext context;
  context.task.set_name(each.at("task").get<std::string>());
  context.config.set_task(context.task.name());
  context.config.set_language(v1::LANGUAGE_CPP);
  context.config.set_rounds(each.at("rounds").get<int>());
  context.config.set_parallel(1);
  v1::WorldModelSettings* settings = context.config.mutable_world_model();
  settings->set_preset(v1::PRESET_PAPER);
  settings->set_stagnation_window(each.at("window").get<int>());
  settings->set_max_difficulty(each.at("max_difficulty").get<int>());
  settings->set_max_new_nodes(3);
  settings->set_max_edit_retries(3);
  if (each.contains("seed")) {
    const v1::Sources seed = Program("seed");
    *context.config.mutable_seed_solution() = seed.files();
  }
  return context;
}

}  // namespace

Json Trace(const Json& each) {
  WorldModelStrategy strategy(ContextOf(each), PlainProposer());
  Json trace = Json::array();
  std::string reason = "ran out of replies";
  size_t next = 0;
  const Json& replies = each.at("replies");
  StepOutput out = strategy.Start();
  while (true) {
    if (out.finished) {
      reason = out.finish_reason;
      break;
    }
    if (!out.screens.empty()) {
      CHECK(out.screens.size() == 1);
      const std::string& program = out.screens[0].sources.files(0).content();
      const Json& times = each.at("times");
      const Json& us = program == "seed" ? each.at("seed") : times.value(program, Json());
      if (us.is_null()) {
        reason = "screens what was no program there";
        break;
      }
      const ScreenResult result = {out.screens[0].tag, Screened(us)};
      out = strategy.OnScreened(result);
      continue;
    }
    CHECK(out.asks.size() == 1);
    const AskModel ask = out.asks[0];
    trace.push_back(ask.user);
    if (next == replies.size()) break;
    ModelAnswer answer;
    answer.call_number = ask.call_number;
    answer.reply.text = replies[next++].get<std::string>();
    answer.reply.finish_reason = "stop";
    out = strategy.OnAnswer(answer);
  }
  Json answer;
  answer["trace"] = std::move(trace);
  answer["nodes"] = ShownTree(*strategy.world_model());
  answer["unused"] = replies.size() - next;
  answer["reason"] = reason;
  return answer;
}

}  // namespace ksearch
