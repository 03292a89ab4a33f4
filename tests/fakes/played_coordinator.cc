#include "tests/fakes/played_coordinator.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/digest.h"
#include "common/log.h"
#include "common/protocol_version.h"
#include "common/textproto.h"
#include "coordinator/tasks/directory_suite.h"
#include "coordinator/world_model/world_model.h"

namespace ksearch {
namespace {

class SilentLink : public WorkerLink {
 public:
  void Send(const v1::WorkerDown&) override {}
  void End(const absl::Status&) override {}
};

bool Reads(absl::string_view method) {
  return absl::StartsWith(method, "Get") || absl::StartsWith(method, "List");
}

std::string Words(size_t letters) {
  std::string text;
  while (text.size() < letters) text += "Each core takes blocks of rows that its cache holds. ";
  text.resize(letters);
  return text;
}

v1::WorldModel TreeOf(int nodes) {
  v1::WorldModel model = NewWorldModel();
  for (int i = 1; i <= nodes; ++i) {
    v1::Node node;
    node.set_node_id(absl::StrCat("n", i));
    node.set_parent_id(i <= 4 ? kRootId : absl::StrCat("n", i / 2));
    node.set_decision("How are rows distributed over cores?");
    node.set_choice("blocks of rows that fit into the second-level cache");
    node.set_overall_rating(6);
    node.set_confidence(0.5);
    node.mutable_action()->set_title(absl::StrCat("Row blocks sized to the cache, variant ", i));
    node.mutable_action()->set_description(Words(400));
    node.mutable_action()->set_rationale(Words(200));
    node.mutable_action()->set_difficulty(1 + i % 5);
    node.mutable_action()->set_score(1.0 / (1 + i % 7));
    if (i == 1 || i == 2 || i == 5) {
      node.mutable_solution()->set_candidate_id(std::string(12, static_cast<char>('0' + i)));
      node.mutable_solution()->set_vs_baseline(1 + 0.3 * i);
      if (i == 2) node.mutable_solution()->set_confirmed_vs_baseline(1.56);
    }
    node.set_closed_too_hard(i == 9);
    AppendNode(&model, std::move(node));
  }
  model.set_revision(1);
  return model;
}

}  // namespace

PlayedCoordinator::PlayedCoordinator(const std::string& folder,
                                     const std::vector<std::string>& task_dirs, Changed changed) {
  Store::Options options;
  options.path = folder + "/ksearch.db";
  auto store = Store::Open(options);
  CHECK_OK(store.status());
  store_ = *std::move(store);
  store_->SetEventListener(
      [this](const std::vector<v1::FeedEntry>& entries) { feed_.Publish(entries); });
  auto tasks = MakeDirectorySuite(task_dirs);
  CHECK_OK(tasks.status());
  tasks_ = *std::move(tasks);
  silent_link_ = std::make_unique<SilentLink>();
  gateway_ = std::make_unique<WorkerGateway>(WorkerGateway::Options(), store_.get());
  pools_ = std::make_unique<PoolBoard>(Clock::Real());
  models_ = std::make_unique<ModelCaller>(store_.get(), Clock::Real(),
                                          std::vector<ModelCaller::Provider>());
  SearchService::Parts parts = {};
  parts.store = store_.get();
  parts.workers = gateway_.get();
  parts.tasks = tasks_.get();
  parts.models = models_.get();
  parts.feed = &feed_;
  parts.pools = pools_.get();
  parts.facts.set_version("played");
  *parts.facts.mutable_started_at() = ToProto(Clock::Real().Now());
  service_ = std::make_unique<SearchService>(parts);
  calls_ = std::make_unique<JsonCalls>(service_.get());
  dashboard::Dashboard::Parts page;
  page.feed = &feed_;
  page.read_events = [this](int64_t after, int limit) {
    return store_->ReadAllEvents(after, limit);
  };
  page.newest_cursor = [this] { return store_->ReadNewestCursor(); };
  page.call = [this, changed = std::move(changed)](
                  absl::string_view method, absl::string_view json) -> absl::StatusOr<std::string> {
    if (Reads(method)) return calls_->Call(method, json);
    if (changed != nullptr) changed(method, json);
    return std::string("{}");
  };
  page.metrics = [](int open_pages) -> absl::StatusOr<std::string> {
    return absl::StrCat("ks_open_pages ", open_pages, "\n");
  };
  auto dashboard = dashboard::Dashboard::Start({.listen_address = "127.0.0.1:0"}, std::move(page));
  CHECK_OK(dashboard.status());
  dashboard_ = *std::move(dashboard);
}

PlayedCoordinator::~PlayedCoordinator() {
  service_->Shutdown();
  dashboard_.reset();  // before what it calls
}

void PlayedCoordinator::AddRun(const std::string& run_id, int nodes) {
  RunRow run;
  run.run_id = run.request_id = run_id;
  run.config.set_task("softmax_rows_f32");
  v1::MemorySnapshot* memory = run.config.mutable_memory_snapshot();
  memory->set_gains(14);
  v1::MemoryPrior* prior = memory->add_priors();
  prior->set_intent(v1::INTENT_KIND_SHARED_MEMORY);
  prior->set_same_op_type(true);
  prior->set_tried(14);
  prior->set_passed(11);
  prior->set_faster(9);
  prior->set_tasks(3);
  prior->set_median_speedup(1.31);
  prior->set_low_speedup(1.08);
  prior->set_high_speedup(1.62);
  v1::RunStatus& status = run.status;
  status.set_run_id(run_id);
  status.set_state(v1::RUN_STATE_RUNNING);
  status.set_task("softmax_rows_f32");
  status.set_language(v1::LANGUAGE_CPP);
  status.set_strategy("world_model");
  status.set_provider("played");
  status.set_model("scripted-demo");
  status.set_rounds_total(100);
  status.set_nodes(nodes + 1);
  status.set_open_actions(nodes);
  *status.mutable_started_at() = ToProto(Clock::Real().Now());
  v1::LedgerLine* line = status.mutable_ledger()->add_lines();
  line->set_llm_calls(10);
  line->set_nano_usd_spent(123456789);
  for (int i = 1; i <= 4; ++i) {
    v1::CycleStatus* cycle = status.add_cycles();
    cycle->set_cycle(i);
    cycle->set_node_id(absl::StrCat("n", i));
    cycle->set_title(absl::StrCat("Row blocks sized to the cache, variant ", i));
    cycle->set_phase("coding");
    cycle->set_attempt(1);
  }
  CHECK_OK(store_->CreateRun(run).status());
  StepCommit step;
  step.run_id = run_id;
  step.status = status;
  const v1::WorldModel tree = TreeOf(nodes);
  step.world_model = &tree;
  v1::RunEvent& event = step.events.emplace_back();
  event.set_kind(v1::RunEvent::RUN_STARTED);
  event.set_text("task softmax_rows_f32, 100 rounds");
  *event.mutable_at() = ToProto(Clock::Real().Now());
  CHECK_OK(store_->CommitStep(step));
}

void PlayedCoordinator::AddWorker(const v1::WorkerHello& hello, const v1::WorkerReport& report) {
  v1::WorkerHello whole = hello;
  whole.set_protocol_version(kProtocolVersion);
  whole.set_incarnation("played");
  CHECK_OK(gateway_->BeginSession(whole, silent_link_.get()));
  CHECK_OK(gateway_->Report(whole.worker_id(), silent_link_.get(), report));
}

void PlayedCoordinator::Step(const std::string& run_id, std::vector<v1::RunEvent> events,
                             const std::function<void(v1::RunStatus*)>& change) {
  StepCommit step;
  step.run_id = run_id;
  auto status = store_->ReadRunStatus(run_id);
  CHECK_OK(status.status());
  step.status = *std::move(status);
  if (change != nullptr) change(&step.status);
  for (v1::RunEvent& event : events) {
    if (!event.has_at()) *event.mutable_at() = ToProto(Clock::Real().Now());
  }
  step.events = std::move(events);
  CHECK_OK(store_->CommitStep(step));
}

std::vector<v1::RunEvent> PlayedCoordinator::RoundEvents(int round) const {
  std::vector<v1::RunEvent> events(3);
  const std::string candidate = Sha256Hex(absl::StrCat("round ", round));
  for (v1::RunEvent& event : events) {
    event.set_round(round);
    event.set_cycle(1 + round % 4);
    event.set_node_id(absl::StrCat("n", 1 + round % 4));
    event.set_candidate_id(candidate);
    event.mutable_candidate()->set_attempt(1);
    event.mutable_candidate()->set_language(v1::LANGUAGE_CPP);
  }
  events[0].set_kind(v1::RunEvent::CANDIDATE_PROPOSED);
  events[0].set_text(absl::StrCat("attempt 1: ", candidate.substr(0, 12)));
  const bool passed = round % 3 != 0;
  const double speedup = passed ? 1 + (round % 17) / 10.0 : 0;
  events[1].set_kind(passed ? v1::RunEvent::CANDIDATE_PASSED : v1::RunEvent::CANDIDATE_FAILED);
  events[1].set_text(passed ? absl::StrCat("passed, ", speedup, "x") : "incorrect: y[3] differs");
  events[1].set_score(speedup);
  v1::CandidateDetail* detail = events[1].mutable_candidate();
  detail->set_outcome(passed ? v1::OUTCOME_PASSED : v1::OUTCOME_INCORRECT);
  detail->set_speedup(speedup);
  detail->set_latency_us(passed ? 400 / speedup : 0);
  detail->set_device_name("AMD EPYC");
  detail->set_worker_id("w1");
  events[2].set_kind(passed ? v1::RunEvent::NODE_SOLVED : v1::RunEvent::NODE_TOO_HARD);
  events[2].set_text("after 1 attempt(s)");
  return events;
}

}  // namespace ksearch
