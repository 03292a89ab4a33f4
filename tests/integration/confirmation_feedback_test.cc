// A search whose best candidates pass their screenings and fail their confirmations: one has a race
// that only the tool sees, another is slow on sizes that the search is not shown. Strategy, prompts
// and choice of the incumbent are the real ones; model and measurements are simulated.
#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/kernel_header.h"
#include "common/run_facts.h"
#include "common/textproto.h"
#include "coordinator/engine/incumbent_tracker.h"
#include "coordinator/search/strategy_factory.h"
#include "coordinator/world_model/world_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kTask[] = R"pb(
  name: "sum"
  device: DEVICE_CLASS_CPU
  definition {
    name: "sum"
    axes { name: "n" }
    inputs { name: "x" shape: "n" dtype: DTYPE_FLOAT32 }
    outputs { name: "y" shape: "n" dtype: DTYPE_FLOAT32 }
  }
  workloads {
    uuid: "shown_a"
    axes { axis: "n" value: 4096 }
  }
  workloads {
    uuid: "shown_b"
    axes { axis: "n" value: 65536 }
  }
  workloads {
    uuid: "unseen_tiny"
    axes { axis: "n" value: 48 }
    held_out: true
  }
  workloads {
    uuid: "unseen_wide"
    axes { axis: "n" value: 131072 }
    held_out: true
  }
  references {
    language: LANGUAGE_CPP
    files { path: "reference.cpp" content: "// reference" }
  }
)pb";

// Speed-up over the baseline on the sizes shown and on the tiny unseen one.
struct Fate {
  double shown = 1;
  double tiny = 1;
  bool race = false;
};
const std::map<std::string, Fate> kPrograms = {
    {"racy", {8, 8, true}},        {"racy_mended", {7, 7, false}},
    {"racy_child", {9, 9, true}},  {"mended_child", {8.5, 8.5, false}},
    {"shortcut", {6, 0.4, false}}, {"shortcut_mended", {6, 5, false}},
    {"plain", {1.5, 1.5, false}},
};

constexpr char kTree[] = R"({"kernel_summary": "s", "open_questions": [],
  "decision_tree": {"root_id": "root", "nodes": [
    {"node_id": "root", "parent_id": null, "notes": ""},
    {"node_id": "tiles", "parent_id": "root", "decision": "d", "choice": "tiles",
     "overall_rating_0_to_10": 7, "confidence_0_to_1": 0.6, "notes": "",
     "action": {"title": "Tiles", "description": "d", "rationale": "r", "difficulty_1_to_5": 2,
                "score_0_to_1": 0.9, "expected_vs_baseline_factor": 2}},
    {"node_id": "vector", "parent_id": "root", "decision": "d", "choice": "vector",
     "overall_rating_0_to_10": 7, "confidence_0_to_1": 0.6, "notes": "",
     "action": {"title": "Vector", "description": "d", "rationale": "r", "difficulty_1_to_5": 2,
                "score_0_to_1": 0.8, "expected_vs_baseline_factor": 2}},
    {"node_id": "plain", "parent_id": "root", "decision": "d", "choice": "plain",
     "overall_rating_0_to_10": 7, "confidence_0_to_1": 0.6, "notes": "",
     "action": {"title": "Plain", "description": "d", "rationale": "r", "difficulty_1_to_5": 2,
                "score_0_to_1": 0.7, "expected_vs_baseline_factor": 2}}]}})";

std::string ProgramReply(const std::string& name) {
  return absl::StrCat(
      "<file path=\"kernel.cpp\">\n// PROGRAM ", name,
      ".\nextern \"C\" int ksearch_run(const KsearchArgs*) { return 0; }\n</file>\n");
}

std::string NameIn(const v1::Sources& sources) {
  const std::string& text = sources.files(0).content();
  const size_t begin = text.find("PROGRAM ") + 8;
  return text.substr(begin, text.find('.', begin) - begin);
}

// Repairs what it is told about, and nothing else.
std::string Answer(const AskModel& ask) {
  const std::string& node = ask.labels.node_id;
  const std::string& user = ask.user;
  if (ask.labels.purpose == "init") return kTree;
  if (ask.labels.purpose == "refine") {
    return absl::StrCat(R"({"ops": [{"op": "insert_node", "parent_id": ")", node,
                        R"(", "node": {"node_id": ")", node,
                        R"(_next", "decision": "d", "choice": "next", "action": {"title": "Next )",
                        node, R"(", "difficulty_1_to_5": 2, "score_0_to_1": 0.6}}}]})");
  }
  if (ask.role == "world_model") return R"({"ops": []})";
  // Every prompt shows the tree's lessons; a mend is written only if it is asked for.
  const bool mend = absl::StrContains(user, "its confirmation refused it") ||
                    absl::StrContains(user, "its examination refused it");
  if (mend && absl::StrContains(user, "PROGRAM racy.") &&
      absl::StrContains(user, "in kernel tile, at kernel.cpp:42")) {
    return ProgramReply("racy_mended");
  }
  if (mend && absl::StrContains(user, "PROGRAM shortcut.") &&
      absl::StrContains(user, "on unseen sizes, where n is small")) {
    return ProgramReply("shortcut_mended");
  }
  if (ask.labels.purpose == "action") {
    if (node == "tiles") return ProgramReply("racy");
    if (node == "vector") return ProgramReply("shortcut");
    if (node == "plain") return ProgramReply("plain");
    if (absl::StrContains(user, "PROGRAM racy.")) return ProgramReply("racy_child");
    if (absl::StrContains(user, "PROGRAM racy_mended.")) return ProgramReply("mended_child");
  }
  return ProgramReply(absl::StrCat("broken_", ask.call_number));
}

class SimulatedRun {
 public:
  SimulatedRun(bool learn, bool restart, bool examine = false) : restart_(restart), tracker_(0.01) {
    EXPECT_TRUE(ParseTextproto(kTask, "task", &context_.task).ok());
    if (examine) {
      context_.task.set_device(v1::DEVICE_CLASS_CUDA);
      context_.config.mutable_world_model()->set_examine_new_bests(true);
    }
    context_.config.set_task("sum");
    context_.config.set_language(v1::LANGUAGE_CPP);
    context_.config.set_rounds(24);
    context_.config.set_parallel(2);
    context_.config.mutable_world_model()->set_stagnation_window(2);
    context_.config.mutable_world_model()->set_learn_from_confirmations(learn);
    context_.kernel_header = KernelHeader(context_.task.definition(), v1::DEVICE_CLASS_CPU).value();
    strategy_ = MakeStrategy(context_).value();
  }

  void Run() {
    Take(strategy_->Start());
    for (int step = 0; !pending_.empty(); ++step) {
      ASSERT_LT(step, 1000) << "the search does not end";
      if (restart_) Restart();
      const Pending next = pending_.front();
      pending_.pop_front();
      if (const auto* ask = std::get_if<AskModel>(&next)) {
        ModelAnswer answer;
        answer.call_number = ask->call_number;
        answer.reply.text = Answer(*ask);
        answer.reply.finish_reason = "stop";
        Take(strategy_->OnAnswer(answer));
      } else if (const auto* screen = std::get_if<ScreenCandidate>(&next)) {
        const v1::JobResult result = Screening(NameIn(screen->sources));
        const StepOutput out = strategy_->OnScreened({screen->tag, result});
        Take(out);
        if (out.examinations.empty()) Challenge(*screen, result);
      } else if (const auto* examine = std::get_if<ExamineCandidate>(&next)) {
        const std::string name = NameIn(examine->sources);
        ++examined_[name];
        v1::JobResult result;
        result.set_outcome(v1::OUTCOME_PASSED);
        if (kPrograms.at(name).race) FindRace(&result);
        result.mutable_sanitizer()->mutable_time()->set_seconds(1);
        if (kPrograms.at(name).race) tracker_.Refuse(examine->candidate_id);
        Take(strategy_->OnExamined({examine->tag, result}));
        if (!kPrograms.at(name).race)
          Challenge(screens_.at(examine->candidate_id), Screening(name));
      } else {
        const auto& started = std::get<IncumbentTracker::Confirmation>(next);
        Confirmation confirmation;
        confirmation.candidate_id = started.candidate_id;
        confirmation.rival_id = started.incumbent_id.empty() ? "baseline" : started.incumbent_id;
        confirmation.result = Confirming(started);
        ++confirmed_[names_.at(started.candidate_id)];
        Take(tracker_.OnConfirmed(started.tag, confirmation.result));
        Take(strategy_->OnConfirmed(confirmation));
      }
    }
    EXPECT_TRUE(finished_);
  }

  const std::vector<AskModel>& asked() const { return asked_; }
  // How often, by name.
  const std::map<std::string, int>& examined() const { return examined_; }
  const std::map<std::string, int>& confirmed() const { return confirmed_; }
  const v1::WorldModel& tree() const { return *strategy_->world_model(); }
  double best() const { return tracker_.best().has_value() ? tracker_.best()->speedup() : 0; }
  std::string BestName() const { return names_.at(tracker_.best()->candidate_id()); }

 private:
  using Pending =
      std::variant<AskModel, ScreenCandidate, ExamineCandidate, IncumbentTracker::Confirmation>;

  void Challenge(const ScreenCandidate& screen, const v1::JobResult& result) {
    Take(tracker_.OnScreened(result, screen.candidate_id, screen.node_id, screen.round,
                             SpeedupOverBaseline(result).value_or(0)));
  }

  void Take(const StepOutput& out) {
    for (const AskModel& ask : out.asks) {
      pending_.push_back(ask);
      asked_.push_back(ask);
    }
    for (const ScreenCandidate& screen : out.screens) {
      names_[screen.candidate_id] = NameIn(screen.sources);
      screens_[screen.candidate_id] = screen;
      pending_.push_back(screen);
    }
    for (const ExamineCandidate& examination : out.examinations) pending_.push_back(examination);
    finished_ = finished_ || out.finished;
  }
  void Take(const IncumbentTracker::Step& step) {
    if (step.start.has_value()) pending_.push_back(*step.start);
  }

  void Restart() {
    const std::string state = strategy_->Save();
    strategy_ = MakeStrategy(context_).value();
    const absl::StatusOr<StepOutput> out = strategy_->Restore(state);
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_EQ(strategy_->Save(), state);
    EXPECT_TRUE(out->asks.empty() && out->screens.empty() && out->examinations.empty());
  }

  v1::JobResult Screening(const std::string& name) const {
    v1::JobResult result;
    const auto fate = kPrograms.find(name);
    if (fate == kPrograms.end()) {
      result.set_outcome(v1::OUTCOME_COMPILE_ERROR);
      return result;
    }
    result.set_outcome(v1::OUTCOME_PASSED);
    for (const char* uuid : {"shown_a", "shown_b"}) {
      v1::WorkloadResult* workload = result.add_workloads();
      workload->set_workload_uuid(uuid);
      workload->set_outcome(v1::OUTCOME_PASSED);
      workload->mutable_baseline()->set_median_us(100);
      workload->mutable_candidate()->set_median_us(100 / fate->second.shown);
    }
    return result;
  }

  v1::JobResult Confirming(const IncumbentTracker::Confirmation& started) const {
    const Fate& fate = kPrograms.at(names_.at(started.candidate_id));
    v1::JobResult result;
    if (fate.race) {
      FindRace(&result);
      return result;
    }
    result.set_outcome(v1::OUTCOME_PASSED);
    *result.add_comparisons() = Compare(fate, "baseline", Fate());
    if (!started.incumbent_id.empty()) {
      *result.add_comparisons() =
          Compare(fate, started.incumbent_id, kPrograms.at(names_.at(started.incumbent_id)));
    }
    return result;
  }

  static void FindRace(v1::JobResult* result) {
    result->set_outcome(v1::OUTCOME_INCORRECT);
    result->set_message("compute-sanitizer racecheck: Error: Race reported; in unseen_tiny");
    v1::SanitizerFinding* finding = result->mutable_sanitizer()->add_findings();
    finding->set_tool("racecheck");
    finding->set_kind(v1::SanitizerFinding::RACE);
    finding->set_kernel("tile");
    finding->set_file("kernel.cpp");
    finding->set_line(42);
    finding->set_text("Error: Race reported between Write access at tile; [508 hazards]");
  }

  static v1::Comparison Compare(const Fate& fate, const std::string& rival_id, const Fate& rival) {
    v1::Comparison comparison;
    comparison.set_rival_id(rival_id);
    double sum = 0;
    bool slow = false;
    for (const char* uuid : {"shown_a", "shown_b", "unseen_tiny", "unseen_wide"}) {
      const bool tiny = absl::StrContains(uuid, "tiny");
      const double log = std::log(tiny ? fate.tiny / rival.tiny : fate.shown / rival.shown);
      v1::Comparison::PerWorkload* workload = comparison.add_workloads();
      workload->set_workload_uuid(uuid);
      workload->set_held_out(absl::StrContains(uuid, "unseen"));
      workload->set_log_speedup(log);
      workload->set_ci_low(log - 0.01);
      workload->set_ci_high(log + 0.01);
      sum += log / 4;
      slow = slow || log + 0.01 < 0;
    }
    comparison.set_log_speedup(sum);
    comparison.set_ci_low(sum - 0.01);
    comparison.set_ci_high(sum + 0.01);
    comparison.set_verdict(sum + 0.01 < 0   ? v1::Comparison::WORSE
                           : slow           ? v1::Comparison::MIXED
                           : sum - 0.01 > 0 ? v1::Comparison::IMPROVED
                                            : v1::Comparison::EQUAL);
    return comparison;
  }

  const bool restart_;
  SearchContext context_;
  IncumbentTracker tracker_;
  std::unique_ptr<SearchStrategy> strategy_;
  std::deque<Pending> pending_;
  std::vector<AskModel> asked_;
  std::map<std::string, std::string> names_;  // by candidate id
  std::map<std::string, ScreenCandidate> screens_;
  std::map<std::string, int> examined_, confirmed_;  // by name
  bool finished_ = false;
};

std::vector<std::string> Prompts(const SimulatedRun& run, const std::string& role) {
  std::vector<std::string> prompts;
  for (const AskModel& ask : run.asked()) {
    if (ask.role == role) prompts.push_back(ask.system + ask.user);
  }
  return prompts;
}

// The first prompt that shows the verdict on this program of `node`.
std::string RepairPrompt(const SimulatedRun& run, const std::string& node,
                         const std::string& name) {
  for (const AskModel& ask : run.asked()) {
    if (ask.role == "code" && ask.labels.node_id == node &&
        absl::StrContains(ask.user, "Verdict: REFUSED") &&
        absl::StrContains(ask.user, absl::StrCat("PROGRAM ", name, "."))) {
      return ask.user;
    }
  }
  return "";
}

TEST(ConfirmationFeedbackTest, TheSearchLearnsWhatConfirmationsRefuse) {
  SimulatedRun taught(/*learn=*/true, /*restart=*/false);
  taught.Run();
  EXPECT_THAT(RepairPrompt(taught, "tiles", "racy"),
              AllOf(HasSubstr("a race between threads of a block in shared memory, in kernel tile, "
                              "at kernel.cpp:42"),
                    HasSubstr("its confirmation refused it")));
  EXPECT_THAT(RepairPrompt(taught, "vector", "shortcut"),
              AllOf(HasSubstr("right, but certainly slower on some sizes"),
                    HasSubstr("on unseen sizes, where n is small")));
  // No program that was refused is a base, and none stays a solution.
  for (const AskModel& ask : taught.asked()) {
    if (ask.labels.purpose != "action") continue;
    EXPECT_THAT(ask.user, Not(HasSubstr("PROGRAM racy."))) << ask.labels.node_id;
    EXPECT_THAT(ask.user, Not(HasSubstr("PROGRAM shortcut."))) << ask.labels.node_id;
  }
  EXPECT_EQ(taught.BestName(), "mended_child");
  EXPECT_NEAR(taught.best(), 8.5, 1e-6);
  ASSERT_TRUE(IsSolved(*FindNode(taught.tree(), "tiles")));
  EXPECT_NEAR(FindNode(taught.tree(), "tiles")->solution().confirmed_vs_baseline(), 7, 1e-6);

  // Confirmed numbers reach the planner.
  EXPECT_THAT(
      Prompts(taught, "world_model"),
      Contains(AllOf(HasSubstr("Confirmed speed-up over the baseline"), HasSubstr("confirmed, "))));
  for (const AskModel& ask : taught.asked()) {
    EXPECT_THAT(ask.system + ask.user, Not(HasSubstr("unseen_tiny")));
    EXPECT_THAT(ask.system + ask.user, Not(HasSubstr("131072")));
  }
}

TEST(ConfirmationFeedbackTest, WithoutItTheSearchEndsWorse) {
  SimulatedRun untaught(/*learn=*/false, /*restart=*/false);
  untaught.Run();
  EXPECT_EQ(untaught.BestName(), "plain");
  EXPECT_NEAR(untaught.best(), 1.5, 1e-6);
  EXPECT_THAT(Prompts(untaught, "code"), Not(Contains(HasSubstr("REFUSED"))));
}

TEST(ConfirmationFeedbackTest, ARestartBeforeEveryStepChangesNothing) {
  SimulatedRun undisturbed(true, false);
  undisturbed.Run();
  SimulatedRun restarted(true, true);
  restarted.Run();
  ASSERT_EQ(restarted.asked().size(), undisturbed.asked().size());
  for (size_t i = 0; i < restarted.asked().size(); ++i) {
    EXPECT_EQ(restarted.asked()[i].user, undisturbed.asked()[i].user) << i;
  }
  EXPECT_EQ(restarted.BestName(), undisturbed.BestName());
}

TEST(ConfirmationFeedbackTest, ExaminationsFindARaceBeforeAnythingIsConfirmed) {
  SimulatedRun examined(/*learn=*/true, /*restart=*/false, /*examine=*/true);
  examined.Run();
  EXPECT_THAT(RepairPrompt(examined, "tiles", "racy"),
              AllOf(HasSubstr("# What the examination of the current program found"),
                    HasSubstr("in kernel tile, at kernel.cpp:42"),
                    HasSubstr("its examination refused it")));
  EXPECT_EQ(examined.examined().at("racy"), 1);
  EXPECT_EQ(examined.confirmed().count("racy"), 0u);
  EXPECT_EQ(examined.confirmed().count("racy_child"), 0u);
  // Only a confirmation can find slowness on unseen sizes.
  EXPECT_EQ(examined.confirmed().at("shortcut"), 1);
  EXPECT_EQ(examined.BestName(), "mended_child");
  // The next request about the node asks for the mend.
  bool screened_racy = false;
  for (const AskModel& ask : examined.asked()) {
    if (ask.role != "code" || ask.labels.node_id != "tiles") continue;
    if (screened_racy) {
      EXPECT_THAT(ask.user, HasSubstr("its examination refused it"));
      break;
    }
    screened_racy = true;
  }

  SimulatedRun restarted(true, /*restart=*/true, true);
  restarted.Run();
  ASSERT_EQ(restarted.asked().size(), examined.asked().size());
  for (size_t i = 0; i < restarted.asked().size(); ++i) {
    EXPECT_EQ(restarted.asked()[i].user, examined.asked()[i].user) << i;
  }
}

}  // namespace
}  // namespace ksearch
