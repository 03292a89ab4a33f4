#include "cli/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/budget_text.h"
#include "cli/client.h"
#include "cli/json_output.h"

namespace ksearch {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(TableTest, ColumnsLineUpAndTheHeaderIsUnderlined) {
  EXPECT_EQ(Table({{"a", "bb"}, {"long", "x"}}), "a     bb\n----  --\nlong  x\n");
}

TEST(TextTest, EnumsReadLikeWords) {
  EXPECT_EQ(OutcomeText(v1::OUTCOME_COMPILE_ERROR), "compile_error");
  EXPECT_EQ(StateText(v1::RUN_STATE_FINISHED), "finished");
  EXPECT_EQ(LanguageText(v1::LANGUAGE_CPP), "cpp");
}

TEST(TextTest, SeveralFilesAreToldApart) {
  v1::Sources sources;
  sources.set_language(v1::LANGUAGE_CUDA);
  v1::SourceFile* file = sources.add_files();
  file->set_path("a.cu");
  file->set_content("int a;");
  EXPECT_EQ(SourcesText(sources), "int a;\n") << "one file is printed as it is";
  file = sources.add_files();
  file->set_path("b.h");
  file->set_content("int b;\n");
  EXPECT_EQ(SourcesText(sources), "// ---- a.cu\nint a;\n// ---- b.h\nint b;\n");
}

TEST(TextTest, OnlyWhatASuiteRanksIsCalledOfficial) {
  v1::JobResult confirmation;
  v1::Comparison* const comparison = confirmation.add_comparisons();
  comparison->set_rival_id("baseline");
  comparison->set_confidence(0.975);
  comparison->mutable_official()->set_workloads(1);
  comparison->mutable_all()->set_workloads(3);
  comparison->set_ranked(v1::Objective::RANKED_OFFICIAL);
  EXPECT_EQ(MeansText(confirmation, ""),
            "1.00x [1.00, 1.00] at 95 % over the 1 official case, which decides\n"
            "1.00x [1.00, 1.00] at 95 % over all 3 cases\n");
  comparison->set_ranked(v1::Objective::RANKED_ALL);
  EXPECT_EQ(MeansText(confirmation, ""),
            "1.00x [1.00, 1.00] at 95 % over all 3 cases, which decides\n"
            "1.00x [1.00, 1.00] at 95 % over 1 case not held out\n");
  EXPECT_EQ(MeansText(confirmation, "official").find("1.00x [1.00, 1.00] at 95 % over 1 case"), 0U);
}

TEST(TextTest, EventsOfTheFleetAreOneLine) {
  v1::FleetEvent event;
  event.set_kind(v1::FleetEvent::LEASE_STAGE);
  event.set_worker_id("w-1");
  event.set_worker_name("node7");
  event.set_job_id("0123456789abcdef");
  event.set_stage(v1::HeldLease::BUILDING);
  EXPECT_EQ(FleetEventText(event), "lease stage  node7  job 0123456789ab  building");
  event = v1::FleetEvent();
  event.set_kind(v1::FleetEvent::CALL_ANSWERED);
  event.mutable_call()->set_call_id("run/3");
  event.mutable_call()->set_provider("p");
  event.mutable_call()->set_model("m");
  event.mutable_call()->set_input_tokens(120);
  event.mutable_call()->set_output_tokens(30);
  event.mutable_call()->set_nano_usd(1'500'000);
  event.mutable_call()->mutable_took()->set_seconds(2);
  EXPECT_EQ(FleetEventText(event), "call answered  run/3  p/m  120+30 tokens  $0.0015  2.0 s");
}

TEST(TextTest, TokensThatNoProviderToldAreSaidToBeBounds) {
  v1::RunStatus status;
  EXPECT_EQ(TokensText(status), "");
  status.set_llm_calls(2);
  status.set_input_tokens(10);
  status.set_output_tokens(5);
  EXPECT_EQ(TokensText(status), "tokens: 10 + 5 reported by the providers\n");
  status.mutable_ledger()->add_lines()->set_tokens_spent(115);
  EXPECT_THAT(TokensText(status), HasSubstr("; 100 more are counted"));
}

TEST(JsonOutputTest, AFieldIsAddedToAnObjectWithoutTouchingTheRest) {
  EXPECT_EQ(WithField("{}\n", "packet", "a\n\"b\""), "{\n \"packet\":\"a\\n\\\"b\\\"\"}");
  EXPECT_EQ(WithField("{\n \"x\": 0.1000000000000000055\n}\n", "p", ""),
            "{\n \"x\": 0.1000000000000000055,\n \"p\":\"\"}");
}

TEST(CheckAddressTest, NamesWhatCanBeDialed) {
  for (const char* good : {"127.0.0.1:7400", "coord.example:1", "[::1]:65535", "unix:/run/k"}) {
    EXPECT_TRUE(CheckAddress(good).ok()) << good;
  }
  for (const char* bad :
       {"", ":", "a:", "a:0", "a:65536", "a:1b", "::1", "[::1]", "[::1:5", "unix:"}) {
    EXPECT_FALSE(CheckAddress(bad).ok()) << bad;
  }
}

TEST(TextTest, LatencyPicksItsUnit) {
  EXPECT_EQ(LatencyText(12.345), "12.35 us");
  EXPECT_EQ(LatencyText(12345), "12.345 ms");
  EXPECT_EQ(LatencyText(2.5e6), "2.500 s");
}

TEST(StatusLineTest, TellsConfirmedFromScreened) {
  v1::RunStatus status;
  status.set_state(v1::RUN_STATE_RUNNING);
  status.set_rounds_done(3);
  status.set_rounds_total(9);
  status.set_best_screened(2.5);
  EXPECT_THAT(StatusLine(status), HasSubstr("2.50x (not confirmed)"));
  status.mutable_best()->set_speedup(2.25);
  status.mutable_best()->set_speedup_low(2);
  status.mutable_best()->set_speedup_high(2.5);
  status.mutable_best()->set_confidence(0.985);
  EXPECT_THAT(StatusLine(status), HasSubstr("best 2.25x [2.00, 2.50] at 97 %"));
  EXPECT_THAT(StatusLine(status), HasSubstr("3/9 rounds"));
}

TEST(TreeTextTest, ShowsSolvedOpenClosedAndPruned) {
  v1::WorldModel model;
  model.set_root_id("root");
  model.add_nodes()->set_node_id("root");
  auto* solved = model.add_nodes();
  solved->set_node_id("blocked");
  solved->set_parent_id("root");
  solved->mutable_solution()->set_score(3.5);
  auto* open = model.add_nodes();
  open->set_node_id("packed");
  open->set_parent_id("blocked");
  open->mutable_action()->set_score(0.7);
  auto* closed = model.add_nodes();
  closed->set_node_id("assembly");
  closed->set_parent_id("root");
  closed->set_closed_too_hard(true);
  model.add_tombstones()->set_node_id("transpose");
  const std::string text = TreeText(model);
  EXPECT_THAT(text, HasSubstr("root\n  [x] blocked"));
  EXPECT_THAT(text, HasSubstr("\n    [ ] packed"));
  EXPECT_THAT(text, HasSubstr("\n  [-] assembly"));
  EXPECT_THAT(text, HasSubstr("pruned:\n  transpose"));
}

TEST(CountTextTest, AddsAnSToAllButOne) {
  EXPECT_EQ(CountText(1, "worker"), "1 worker");
  EXPECT_EQ(CountText(0, "worker"), "0 workers");
}

TEST(ResultTextTest, NamesDiagnosticsWorkloadsAndRivals) {
  v1::JobResult result;
  result.set_outcome(v1::OUTCOME_COMPILE_ERROR);
  result.set_message("1 error");
  result.mutable_device()->set_harness_version("11");
  auto* diagnostic = result.mutable_build()->add_diagnostics();
  diagnostic->set_file("kernel.cpp");
  diagnostic->set_line(7);
  diagnostic->set_severity("error");
  diagnostic->set_message("expected ';'");
  EXPECT_THAT(ResultText(result), HasSubstr("kernel.cpp:7: error: expected ';'"));
  EXPECT_THAT(ResultText(result), Not(HasSubstr("measured with")));  // nothing was

  result.set_outcome(v1::OUTCOME_PASSED);
  auto* workload = result.add_workloads();
  workload->set_workload_uuid("m128");
  workload->mutable_candidate()->set_median_us(10);
  workload->mutable_baseline()->set_median_us(55);
  EXPECT_THAT(ResultText(result), HasSubstr("5.50x the baseline's speed"));
  EXPECT_THAT(ResultText(result), HasSubstr("measured with"));
  EXPECT_THAT(ResultText(result), Not(HasSubstr("copying")));
  result.mutable_workloads(0)->set_copy_us(1.5);
  EXPECT_THAT(ResultText(result), HasSubstr("returns into the outputs takes: m128 1.50 us"));
  result.mutable_workloads(0)->clear_copy_us();
  EXPECT_THAT(ResultText(result), Not(HasSubstr("same in every call")));
  for (const char* const input : {"indices", "bounds"}) {
    result.mutable_workloads(0)->add_repeated_inputs(input);
  }
  EXPECT_THAT(ResultText(result), HasSubstr("the same in every call: bounds, indices (a program"));
  auto* comparison = result.add_comparisons();
  comparison->set_rival_id("baseline");
  comparison->set_verdict(v1::Comparison::IMPROVED);
  comparison->set_log_speedup(1.6094379);
  EXPECT_THAT(ResultText(result), HasSubstr("5.50x"));
  comparison->set_ci_low(1.6094379);
  comparison->set_ci_high(1.6094379);
  comparison->set_confidence(0.975);
  EXPECT_THAT(ResultText(result), HasSubstr("over baseline: 5.00x [5.00, 5.00] at 95 % improved"));
  EXPECT_THAT(ResultText(result), HasSubstr("improved"));
}

TEST(ResultTextTest, ShowsWhatComputeSanitizerSays) {
  v1::JobResult result;
  result.set_outcome(v1::OUTCOME_PASSED);
  result.mutable_sanitizer()->set_note("not checked by compute-sanitizer: synccheck: no summary");
  v1::SanitizerFinding* finding = result.mutable_sanitizer()->add_findings();
  finding->set_tool("racecheck");
  finding->set_warning(true);
  finding->set_text("Warning: Race reported");
  EXPECT_THAT(ResultText(result),
              HasSubstr("  compute-sanitizer racecheck (warning): Warning: Race reported\n"));
  EXPECT_THAT(ResultText(result), HasSubstr("  not checked by compute-sanitizer: synccheck"));
  EXPECT_THAT(ResultText(result), Not(HasSubstr("review")));
  v1::DelayedRuns* runs = result.mutable_sanitizer()->mutable_delayed_runs();
  runs->set_label("race_reported");
  runs->set_calls(12);
  EXPECT_THAT(ResultText(result),
              HasSubstr("  review (race_reported): a tool reports a race; of 12 calls with delays "
                        "at barriers none shows one\n"));
}

TEST(ResultTextTest, ShowsWhatTheCompilerSaysOfEachKernel) {
  v1::JobResult result;
  result.set_outcome(v1::OUTCOME_PASSED);
  result.mutable_build()->set_architecture("sm_90a");
  v1::KernelFacts* kernel = result.mutable_build()->add_kernels();
  kernel->set_name("decode<128>");
  kernel->set_registers(168);
  kernel->set_spill_store_bytes(8);
  kernel->set_spill_load_bytes(12);
  EXPECT_THAT(ResultText(result),
              HasSubstr("kernels for sm_90a:\n  decode<128>: 168 registers, 0 B static shared, "
                        "spills 8 B out 12 B in\n"));
  kernel->mutable_sass()->set_tensor(64);
  EXPECT_THAT(ResultText(result), HasSubstr("64 tensor"));
}

}  // namespace
}  // namespace ksearch
