#ifndef KSEARCH_TESTS_COORDINATOR_DASHBOARD_HOSTILE_RUN_H_
#define KSEARCH_TESTS_COORDINATOR_DASHBOARD_HOSTILE_RUN_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "common/textproto.h"
#include "proto/search_service.pb.h"

namespace ksearch::dashboard {

// Text that would take over a page if it were ever read as HTML.
inline constexpr char kHostile[] =
    "</script><script>document.title='taken'</script><!--<img src=x "
    "onerror=\"document.title='taken'\">\xE2\x80\xA8";

// Answers about a run "r" whose every text is hostile. It has a candidate "c1", and one that is
// gone.
inline absl::StatusOr<std::string> AnswerOfHostileRun(absl::string_view method,
                                                      absl::string_view json) {
  const auto text = [](const google::protobuf::Message& message) {
    return ToJson(message, /*with_defaults=*/false, /*pretty=*/false);
  };
  if (method == "GetRun") {
    v1::RunStatus run;
    run.set_run_id("r");
    run.set_task(kHostile);
    run.set_strategy(kHostile);
    run.set_model(kHostile);
    run.set_reason(kHostile);
    v1::CycleStatus* const cycle = run.add_cycles();
    cycle->set_title(kHostile);
    cycle->set_phase(kHostile);
    return text(run);
  }
  if (method == "GetTree") {
    v1::WorldModel model;
    model.set_root_id("root");
    v1::Node* const root = model.add_nodes();
    root->set_node_id("root");
    v1::Node* const node = model.add_nodes();
    node->set_node_id(kHostile);
    node->set_parent_id("root");
    node->mutable_action()->set_title(kHostile);
    node->mutable_action()->set_description(kHostile);
    return text(model);
  }
  if (method == "ListEvents") {
    v1::ListEventsReply reply;
    if (!absl::StrContains(json, "\"0\"")) return text(reply);
    v1::RunEvent* const event = reply.add_events();
    event->set_seq(1);
    event->set_kind(v1::RunEvent::CANDIDATE_FAILED);
    event->set_candidate_id("c1");
    event->set_node_id(kHostile);
    event->set_text(kHostile);
    event->mutable_candidate()->set_device_name(kHostile);
    reply.add_events()->set_seq(2);
    reply.mutable_events(1)->set_candidate_id("gone");
    return text(reply);
  }
  if (method != "GetCandidate") return absl::InvalidArgumentError("an unknown method");
  if (!absl::StrContains(json, "\"c1\"")) return absl::NotFoundError("no such candidate");
  v1::CandidateReply candidate;
  candidate.set_candidate_id("c1");
  candidate.set_node_id(kHostile);
  candidate.set_packet(kHostile);
  candidate.mutable_call()->set_prompt(kHostile);
  candidate.mutable_call()->set_reply(kHostile);
  v1::SourceFile* const file = candidate.mutable_sources()->add_files();
  file->set_path(kHostile);
  file->set_content(kHostile);
  v1::JobResult* const result = candidate.add_results();
  result->set_outcome(v1::OUTCOME_COMPILE_ERROR);
  result->set_message(kHostile);
  result->set_stderr_excerpt(kHostile);
  result->add_suspicions(kHostile);
  result->mutable_device()->set_name(kHostile);
  result->mutable_build()->set_log_excerpt(kHostile);
  result->mutable_build()->add_diagnostics()->set_message(kHostile);
  return text(candidate);
}

}  // namespace ksearch::dashboard

#endif  // KSEARCH_TESTS_COORDINATOR_DASHBOARD_HOSTILE_RUN_H_
