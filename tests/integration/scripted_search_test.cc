// The shipped cassettes lead the real strategy as intended, with no call unanswered and no edit
// refused, whatever the pace of the workers. Evaluations are simulated: a table says which program
// passes and how fast it is.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/kernel_header.h"
#include "common/textproto.h"
#include "coordinator/llm/model_server/cassette.h"
#include "coordinator/search/strategy_factory.h"
#include "coordinator/tasks/directory_suite.h"
#include "coordinator/world_model/world_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using testing::Contains;

std::string SourceDir() { return std::getenv("KSEARCH_SOURCE_DIR"); }

// How a program fares; speedup 0 with OUTCOME_PASSED does not occur.
struct Fate {
  v1::Outcome outcome = v1::OUTCOME_PASSED;
  double speedup = 1;
};

// One search in simulated time: replies take the cassette's delay, evaluations `evaluation_time`
// each, one at a time.
class SimulatedSearch {
 public:
  SimulatedSearch(const Cassette& cassette, const v1::Task& task, int rounds, int parallel,
                  int stagnation_window, std::function<Fate(const std::string&)> fate,
                  absl::Duration evaluation_time, v1::Language language = v1::LANGUAGE_CPP)
      : cassette_(cassette), fate_(std::move(fate)), evaluation_time_(evaluation_time) {
    SearchContext context;
    context.task = task;
    context.config.set_task(task.name());
    context.config.set_language(language);
    context.config.set_rounds(rounds);
    context.config.set_parallel(parallel);
    context.config.mutable_world_model()->set_stagnation_window(stagnation_window);
    // As every new run has them.
    context.config.mutable_world_model()->set_learn_from_confirmations(true);
    context.config.mutable_world_model()->set_dominated_ratio(0.2);
    context.kernel_header = KernelHeader(task.definition(), task.device()).value();
    context.target_hardware = "a simulated machine";
    strategy_ = MakeStrategy(context).value();
  }

  void Run() {
    Take(strategy_->Start());
    while (!finished_ && !pending_.empty()) {
      Pending next = pending_.top();
      pending_.pop();
      now_ = next.at;
      if (next.is_answer) {
        Take(strategy_->OnAnswer(next.answer));
      } else {
        Take(strategy_->OnScreened(next.screened));
      }
    }
    EXPECT_TRUE(finished_) << "nothing to wait for, and not finished";
    strategy_->Describe(&status_);
  }

  const v1::WorldModel& tree() const { return *strategy_->world_model(); }
  const v1::RunStatus& status() const { return status_; }
  // "refine threads 1" for every call.
  const std::vector<std::string>& calls() const { return calls_; }
  std::vector<std::string> EventTexts(v1::RunEvent::Kind kind) const {
    std::vector<std::string> texts;
    for (const v1::RunEvent& event : events_) {
      if (event.kind() == kind) texts.push_back(absl::StrCat(event.node_id(), ": ", event.text()));
    }
    return texts;
  }
  int screens() const { return screens_; }
  absl::Duration elapsed() const { return now_; }

 private:
  struct Pending {
    absl::Duration at;
    int order = 0;
    bool is_answer = false;
    ModelAnswer answer;
    ScreenResult screened;
  };
  struct Later {
    bool operator()(const Pending& a, const Pending& b) const {
      return std::tie(a.at, a.order) > std::tie(b.at, b.order);
    }
  };

  void Take(StepOutput out) {
    for (AskModel& ask : out.asks) Answer(ask);
    for (ScreenCandidate& screen : out.screens) Screen(screen);
    events_.insert(events_.end(), out.events.begin(), out.events.end());
    finished_ = finished_ || out.finished;
  }

  void Answer(const AskModel& ask) {
    calls_.push_back(
        absl::StrCat(ask.labels.purpose, " ", ask.labels.node_id, " ", ask.labels.attempt));
    const CassetteKey key = {ask.labels.purpose, ask.labels.node_id, ask.labels.attempt,
                             ask.labels.cycle};
    const Cassette::Entry* entry = cassette_.Find(key);
    Pending pending;
    pending.order = ++order_;
    pending.is_answer = true;
    pending.answer.call_number = ask.call_number;
    pending.at = now_;
    if (entry == nullptr) {
      ADD_FAILURE() << "no entry for " << key.ToString();
      pending.answer.status = absl::NotFoundError("no entry");
    } else {
      pending.at += entry->delay;
      pending.answer.reply.text = entry->text;
      pending.answer.reply.finish_reason = entry->finish_reason;
    }
    pending_.push(std::move(pending));
  }

  void Screen(const ScreenCandidate& screen) {
    ++screens_;
    const Fate fate = fate_(screen.sources.files(0).content());
    device_free_ = std::max(device_free_, now_) + evaluation_time_;
    Pending pending;
    pending.at = device_free_;
    pending.order = ++order_;
    pending.screened.tag = screen.tag;
    v1::JobResult& result = pending.screened.result;
    result.set_outcome(fate.outcome);
    v1::WorkloadResult* workload = result.add_workloads();
    workload->set_outcome(fate.outcome);
    if (fate.outcome == v1::OUTCOME_PASSED) {
      workload->mutable_baseline()->set_median_us(10000);
      workload->mutable_candidate()->set_median_us(10000 / fate.speedup);
    }
    pending_.push(std::move(pending));
  }

  const Cassette& cassette_;
  const std::function<Fate(const std::string&)> fate_;
  const absl::Duration evaluation_time_;
  std::unique_ptr<SearchStrategy> strategy_;
  std::priority_queue<Pending, std::vector<Pending>, Later> pending_;
  std::vector<std::string> calls_;
  std::vector<v1::RunEvent> events_;
  v1::RunStatus status_;
  absl::Duration now_;
  absl::Duration device_free_;
  int order_ = 0;
  int screens_ = 0;
  bool finished_ = false;
};

v1::Task LoadTask(const std::string& name) {
  return MakeDirectorySuite({SourceDir() + "/configs/tasks"}).value()->Load(name).value();
}

// Fates by source file below `folder`; a program that is none of them fails the test.
std::function<Fate(const std::string&)> FatesOfFiles(const std::string& folder,
                                                     const std::map<std::string, Fate>& files) {
  std::map<std::string, Fate> fates;
  for (const auto& [file, fate] : files) {
    fates[ReadFile(absl::StrCat(SourceDir(), "/", folder, "/", file), 1 << 20).value()] = fate;
  }
  return [fates](const std::string& source) {
    const auto it = fates.find(source);
    EXPECT_NE(it, fates.end()) << "unknown program:\n" << source;
    return it == fates.end() ? Fate() : it->second;
  };
}

std::function<Fate(const std::string&)> MatmulFates() {
  // Speed-ups as measured on two cores of a Zen 4 machine.
  return FatesOfFiles("configs/demo/matmul",
                      {{"row_axpy.cpp", {v1::OUTCOME_PASSED, 16}},
                       {"vectorized_no_right_edge.cpp", {v1::OUTCOME_INCORRECT}},
                       {"vectorized.cpp", {v1::OUTCOME_PASSED, 29}},
                       {"register_tiled_no_include.cpp", {v1::OUTCOME_COMPILE_ERROR}},
                       {"register_tiled.cpp", {v1::OUTCOME_PASSED, 56}},
                       {"threaded.cpp", {v1::OUTCOME_PASSED, 80}},
                       {"transposed.cpp", {v1::OUTCOME_PASSED, 2.5}},
                       {"transposed_vector.cpp", {v1::OUTCOME_PASSED, 15}},
                       {"thread_rows.cpp", {v1::OUTCOME_PASSED, 1.9}},
                       {"small_blocks.cpp", {v1::OUTCOME_PASSED, 9}},
                       {"avx512_tile.cpp", {v1::OUTCOME_COMPILE_ERROR}},
                       {"avx512_tile_again.cpp", {v1::OUTCOME_COMPILE_ERROR}}});
}

class DemoCassetteTest : public testing::TestWithParam<absl::Duration> {};

TEST_P(DemoCassetteTest, LeadsToThreadsOverFailuresAndSideBranches) {
  const auto cassette = Cassette::Load(SourceDir() + "/configs/demo/matmul.cassette.textproto");
  ASSERT_TRUE(cassette.ok()) << cassette.status();
  SimulatedSearch search(*cassette, LoadTask("matmul_f32"), /*rounds=*/20, /*parallel=*/2,
                         /*stagnation_window=*/2, MatmulFates(), GetParam());
  search.Run();
  const v1::WorldModel& tree = search.tree();
  ASSERT_NE(BestNode(tree), nullptr);
  EXPECT_EQ(BestNode(tree)->node_id(), "threads");
  EXPECT_EQ(search.status().rounds_done(), 20);
  EXPECT_THAT(search.EventTexts(v1::RunEvent::EDIT_REJECTED), testing::IsEmpty());
  EXPECT_THAT(search.EventTexts(v1::RunEvent::REPLY_UNUSABLE), testing::IsEmpty());
  EXPECT_THAT(search.EventTexts(v1::RunEvent::NODE_PRUNED),
              Contains(testing::HasSubstr("thread_rows")));
  EXPECT_THAT(search.EventTexts(v1::RunEvent::NODE_TOO_HARD),
              Contains(testing::HasSubstr("avx512_tile")));
  EXPECT_THAT(search.EventTexts(v1::RunEvent::NODE_SOLVED),
              Contains(testing::HasSubstr("small_blocks")));
  EXPECT_THAT(search.calls(), Contains("debug register_tile 2"));
  EXPECT_THAT(search.calls(), Contains("debug pack_panels 2"));
  EXPECT_LE(search.elapsed(), absl::Seconds(150));
  if (testing::Test::HasFailure()) {
    for (const std::string& call : search.calls()) GTEST_LOG_(INFO) << call;
  }
}

INSTANTIATE_TEST_SUITE_P(EvaluationTimes, DemoCassetteTest,
                         testing::Values(absl::Milliseconds(500), absl::Seconds(1),
                                         absl::Milliseconds(2300), absl::Seconds(4)));

// Budgets and windows other than the demo's, and one cycle at a time: still no call unanswered and
// no edit refused, but for late nodes of long runs.
TEST(DemoCassetteVariantsTest, AnswersEveryCall) {
  const auto cassette = Cassette::Load(SourceDir() + "/configs/demo/matmul.cassette.textproto");
  ASSERT_TRUE(cassette.ok()) << cassette.status();
  const v1::Task task = LoadTask("matmul_f32");
  for (const int parallel : {1, 2, 3}) {
    for (const int window : {1, 2, 3}) {
      for (const int rounds : {16, 18, 40}) {
        SCOPED_TRACE(absl::StrCat("parallel ", parallel, " window ", window, " rounds ", rounds));
        SimulatedSearch search(*cassette, task, rounds, parallel, window, MatmulFates(),
                               absl::Seconds(2));
        search.Run();
        EXPECT_THAT(search.EventTexts(v1::RunEvent::REPLY_UNUSABLE), testing::IsEmpty());
      }
    }
  }
}

TEST(SoftmaxCassetteTest, FindsTheVectorExponentialInSixRounds) {
  const auto cassette =
      Cassette::Load(SourceDir() + "/tests/integration/data/softmax.cassette.textproto");
  ASSERT_TRUE(cassette.ok()) << cassette.status();
  for (const int parallel : {1, 2}) {
    SimulatedSearch search(*cassette, LoadTask("softmax_rows_f32"), /*rounds=*/6, parallel,
                           /*stagnation_window=*/2,
                           FatesOfFiles("tests/integration/data/softmax",
                                        {{"plain.cpp", {v1::OUTCOME_PASSED, 1.01}},
                                         {"no_max.cpp", {v1::OUTCOME_INCORRECT}},
                                         {"vector_exp.cpp", {v1::OUTCOME_PASSED, 6.5}},
                                         {"vector_exp_typo.cpp", {v1::OUTCOME_COMPILE_ERROR}}}),
                           absl::Seconds(1));
    search.Run();
    ASSERT_NE(BestNode(search.tree()), nullptr);
    EXPECT_EQ(BestNode(search.tree())->node_id(), "vector_exp");
    EXPECT_EQ(search.screens(), 4) << "with parallel " << parallel;
    EXPECT_THAT(search.EventTexts(v1::RunEvent::EDIT_REJECTED), testing::IsEmpty());
  }
}

TEST(PythonCassetteTest, ThreeFailuresOfOneActionAreMended) {
  const auto cassette =
      Cassette::Load(SourceDir() + "/tests/integration/data/python_matmul.cassette.textproto");
  ASSERT_TRUE(cassette.ok()) << cassette.status();
  SimulatedSearch search(*cassette, LoadTask("matmul_f32"), /*rounds=*/5, /*parallel=*/1,
                         /*stagnation_window=*/4,
                         FatesOfFiles("tests/integration/data/python_matmul",
                                      {{"no_colon.py", {v1::OUTCOME_COMPILE_ERROR}},
                                       {"wrong_shapes.py", {v1::OUTCOME_RUNTIME_ERROR}},
                                       {"forgets_a_column.py", {v1::OUTCOME_INCORRECT}},
                                       {"kernel.py", {v1::OUTCOME_PASSED, 100}}}),
                         absl::Seconds(1), v1::LANGUAGE_PYTHON);
  search.Run();
  ASSERT_NE(BestNode(search.tree()), nullptr);
  EXPECT_EQ(BestNode(search.tree())->node_id(), "one_operation");
  EXPECT_EQ(search.screens(), 4);
  EXPECT_THAT(search.calls(),
              testing::IsSupersetOf({"action one_operation 1", "debug one_operation 2",
                                     "debug one_operation 3", "debug one_operation 4"}));
  EXPECT_THAT(search.EventTexts(v1::RunEvent::REPLY_UNUSABLE), testing::IsEmpty());
  EXPECT_THAT(search.EventTexts(v1::RunEvent::EDIT_REJECTED), testing::IsEmpty());
}

// A cassette's fallbacks cover every purpose, so that no run can meet a missing entry.
TEST(CassetteFallbackTest, EveryPurposeHasOne) {
  for (const char* path : {"configs/demo/matmul.cassette.textproto",
                           "tests/integration/data/softmax.cassette.textproto"}) {
    const auto cassette = Cassette::Load(absl::StrCat(SourceDir(), "/", path));
    ASSERT_TRUE(cassette.ok()) << cassette.status();
    for (const char* purpose :
         {"init", "propose", "refine", "too_hard", "action", "debug", "improve"}) {
      EXPECT_NE(cassette->Find({purpose, "no_such_node", 9, 99}), nullptr)
          << path << ": " << purpose;
    }
  }
}

}  // namespace
}  // namespace ksearch
