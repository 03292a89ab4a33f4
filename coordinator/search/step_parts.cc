#include "coordinator/search/step_parts.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/identity.h"
#include "coordinator/world_model/text.h"
#include "coordinator/world_model/world_model.h"

namespace ksearch {
namespace {

constexpr size_t kMaxEventText = 300;
constexpr char kSeedTag[] = "seed";

}  // namespace

v1::RunEvent* AddEvent(v1::RunEvent::Kind kind, absl::string_view text, StepOutput* out) {
  v1::RunEvent& event = out->events.emplace_back();
  event.set_kind(kind);
  event.set_text(OneLine(text, kMaxEventText));
  return &event;
}

v1::RunEvent* AddEvent(v1::RunEvent::Kind kind, absl::string_view text, const v1::CycleState& cycle,
                       StepOutput* out) {
  v1::RunEvent* event = AddEvent(kind, text, out);
  event->set_cycle(cycle.cycle());
  event->set_round(cycle.round());
  event->set_node_id(cycle.node_id());
  return event;
}

std::string AtFloorText(const v1::ScreenedProgram& program) {
  return absl::StrFormat("program %s runs at %.0f %% of the fastest possible",
                         program.candidate_id().substr(0, 12), 100 * program.floor_share());
}

void DescribeVerdict(const v1::ScreenedProgram& program, v1::RunEvent* event) {
  event->set_kind(program.passed() ? v1::RunEvent::CANDIDATE_PASSED
                                   : v1::RunEvent::CANDIDATE_FAILED);
  event->set_candidate_id(program.candidate_id());
  event->set_job_id(program.result().job_id());
  if (program.passed()) event->set_score(program.score());
}

std::vector<v1::Sources> GivenSources(const v1::RunConfig& config) {
  std::vector<v1::Sources> given;
  std::set<std::string> ids;
  const auto add = [&](const google::protobuf::RepeatedPtrField<v1::SourceFile>& files) {
    v1::Sources sources;
    sources.set_language(config.language());
    *sources.mutable_files() = files;
    if (files.size() > 0 && ids.insert(CandidateId(sources)).second) given.push_back(sources);
  };
  add(config.seed_solution());
  for (const v1::SeedProgram& seed : config.seeds()) add(seed.files());
  return given;
}

v1::Sources SeedSources(const v1::RunConfig& config) {
  std::vector<v1::Sources> given = GivenSources(config);
  return given.empty() ? v1::Sources() : std::move(given.front());
}

ScreenCandidate SeedScreen(const v1::Sources& sources, int number) {
  ScreenCandidate screen;
  screen.tag = number == 0 ? std::string(kSeedTag) : absl::StrCat(kSeedTag, "/", number + 1);
  screen.sources = sources;
  screen.candidate_id = CandidateId(screen.sources);
  screen.node_id = kRootId;
  return screen;
}

ScreenCandidate CycleScreen(const v1::CycleState& cycle) {
  ScreenCandidate screen;
  screen.cycle = cycle.cycle();
  screen.round = cycle.round();
  screen.attempt = cycle.progress().attempts() + 1;
  screen.tag = absl::StrCat("cycle/", screen.cycle, "/attempt/", screen.attempt);
  screen.sources = cycle.awaited_sources();
  screen.candidate_id = cycle.awaited_candidate_id();
  screen.node_id = cycle.node_id();
  screen.parent_candidate_id = cycle.base_candidate_id();
  screen.call_number = cycle.code_call_number();
  return screen;
}

void KeepProposedSince(int64_t revision, v1::SearchState* state) {
  if (state->proposed_at_revision() != revision) return;
  state->set_proposed_at_revision(state->world_model().revision());
}

v1::Node UnderRoot(const v1::WorldModel& model, const std::string& name, const std::string& task,
                   int round, double score, v1::Node node) {
  node.set_node_id(FindNode(model, name) == nullptr
                       ? name
                       : FreshId(model, absl::StrCat(name, "_"), task, round));
  node.set_parent_id(model.root_id());
  node.set_overall_rating(10 * score);
  node.set_confidence(score);
  node.mutable_action()->set_score(score);
  node.set_last_updated_round(round);
  return node;
}

}  // namespace ksearch
