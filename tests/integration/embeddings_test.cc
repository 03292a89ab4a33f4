// Programs that are compared by their embeddings: a search by shinka through a real coordinator,
// which asks ksearch-model-server over HTTP for programs and embeddings alike.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/textproto.h"
#include "coordinator/llm/model_server/landscape/landscape.h"
#include "coordinator/tasks/directory_suite.h"
#include "tests/integration/landscape_worker.h"
#include "tests/integration/local_cluster.h"
#include "tests/integration/store_rows.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string DemoFolder() { return LocalCluster::SourcePath("configs/demo/landscapes/"); }

class EmbeddingsTest : public testing::Test {
 protected:
  EmbeddingsTest()
      : landscape_(Landscape::Load(DemoFolder() + "smooth.landscape.textproto").value()),
        task_(MakeDirectorySuite({DemoFolder() + "tasks"})
                  .value()
                  ->Load("tunable_scale_f32")
                  .value()) {}

  void Start(LocalCluster* cluster, const std::string& providers) {
    cluster->StartModelServer(DemoFolder() + "smooth.landscape.textproto");
    cluster->StartCoordinator(
        absl::StrCat("providers { name: 'embeds' openai_chat { base_url: '", cluster->model_url(),
                     "' default_model: 'landscape' label_headers: true embedding_model: 'words' } ",
                     "prices { model: 'landscape' rates { input: '1' output: '1' } } ",
                     "prices { model: 'words' rates { input: '0.5' output: '0' } } }\n", providers),
        DemoFolder() + "tasks");
    worker_ = std::make_unique<LandscapeWorker>(
        std::vector<LandscapeWorker::World>{{&landscape_, &task_}}, cluster->address());
  }
  CommandOutput Run(LocalCluster* cluster, const std::string& config) {
    const std::string path = cluster->folder() + "/run.textproto";
    std::ofstream(path) << "strategy: 'shinka' rounds: 10 seed: 3 language: LANGUAGE_CPP "
                        << config;
    return cluster->Cli(
        {"run", "--task", "tunable_scale_f32", "--config", path, "--wait-for-workers", "60s"});
  }
  static std::vector<std::string> Rows(const LocalCluster& cluster, const std::string& query) {
    return StoreRows(cluster.folder() + "/state/ksearch.db", query);
  }

  const Landscape landscape_;
  const v1::Task task_;
  std::unique_ptr<LandscapeWorker> worker_;
};

// With a program that is better, or without one.
const auto kEnded = testing::AnyOf(0, 7);

constexpr char kNotWhatTokensSay[] = "shinka { novelty_threshold: 0.9 patch_weight: 0 }";

TEST_F(EmbeddingsTest, AreCallsLikeAnyOtherAndDecideWhatIsEvaluated) {
  LocalCluster cluster;
  Start(&cluster, "");
  const CommandOutput ran =
      Run(&cluster, absl::StrCat("provider: 'embeds' budget { usd: '5' } ", kNotWhatTokensSay));
  ASSERT_THAT(ran.exit.code, kEnded) << ran.err;
  const std::string embeds = "FROM llm_calls WHERE role = 'embedding'";
  // Every program of a reply was embedded, at the price of its model and at no other cost.
  EXPECT_THAT(Rows(cluster,
                   "SELECT DISTINCT provider || ' ' || model || ' ' || purpose || ' ' || "
                   "cost_basis " +
                       embeds),
              ElementsAre("embeds words embed provider"));
  EXPECT_THAT(Rows(cluster,
                   "SELECT COUNT(*) >= 10 AND MIN(cost_nano) > 0 AND MAX(output_tokens) = "
                   "0 AND COUNT(*) = COUNT(reply) " +
                       embeds),
              ElementsAre("1"));
  EXPECT_THAT(Rows(cluster, "SELECT SUM(calls) FROM ledger WHERE scope = 'embeds/words'"),
              Not(ElementsAre("0")));
  // The programs of this landscape differ in few words.
  const std::string log = cluster.Cli({"log", "last"}).out;
  EXPECT_THAT(log, HasSubstr("not evaluated: its embedding has the cosine 0.9"));
  EXPECT_THAT(log, Not(HasSubstr("no more embeddings")));
  const std::string status = cluster.Cli({"status", "last", "--json"}).out;
  EXPECT_THAT(cluster.Cli({"doctor"}).out, HasSubstr("embeddings by words"));

  // A recording has them, and repeats the run without a server or a worker.
  const std::string cassette = cluster.folder() + "/run.jsonl";
  ASSERT_EQ(cluster.Cli({"export", "last", "--cassette", cassette}).exit.code, 0);
  worker_.reset();
  LocalCluster replayed;
  replayed.StartCoordinator(absl::StrCat("providers { name: 'recorded' replay { cassette: '",
                                         cassette, "' import_results: true } }\n"),
                            DemoFolder() + "tasks");
  const CommandOutput again =
      replayed.Cli({"run", "--like-cassette", cassette, "--provider", "recorded"});
  ASSERT_EQ(again.exit.code, ran.exit.code) << again.err;
  const std::string story =
      "SELECT role || purpose || prompt || ifnull(reply, error) FROM llm_calls ORDER BY number";
  EXPECT_EQ(Rows(replayed, story), Rows(cluster, story));
}

TEST_F(EmbeddingsTest, AServerThatCannotEmbedStopsNothing) {
  LocalCluster cluster;
  Start(&cluster,
        "providers { name: 'closed' openai_chat { base_url: 'http://127.0.0.1:9/v1' "
        "embedding_model: 'e' } retry { max_attempts: 2 first_delay { nanos: 1000000 } } }\n");
  const CommandOutput ran =
      Run(&cluster, "provider: 'embeds' models { role: 'embedding' provider: 'closed' }");
  ASSERT_THAT(ran.exit.code, kEnded) << ran.err;
  EXPECT_THAT(Rows(cluster, "SELECT error FROM llm_calls WHERE role = 'embedding'"),
              ElementsAre(HasSubstr("UNAVAILABLE")));
  EXPECT_THAT(cluster.Cli({"log", "last"}).out,
              HasSubstr("no more embeddings in this run, programs are told apart by their tokens"));
}

TEST_F(EmbeddingsTest, WhereThereAreNoneTokensCountAndNobodyIsAsked) {
  LocalCluster cluster;
  Start(&cluster, "");
  const CommandOutput ran = Run(&cluster, "shinka { patch_weight: 0 }");  // provider "scripted"
  ASSERT_THAT(ran.exit.code, kEnded) << ran.err;
  EXPECT_THAT(Rows(cluster, "SELECT call_id FROM llm_calls WHERE role = 'embedding'"), IsEmpty());
  // Impossible settings are refused with the field's name before anything is spent.
  const CommandOutput wanted = Run(&cluster, "shinka { embeddings: true }");
  EXPECT_EQ(wanted.exit.code, 3) << wanted.err;
  EXPECT_THAT(wanted.err, HasSubstr("shinka.embeddings is true, but provider 'scripted' has no "
                                    "embedding_model"));
  const CommandOutput elsewhere =
      Run(&cluster, "models { role: 'embedding' provider: 'scripted' }");
  EXPECT_THAT(elsewhere.err, HasSubstr("models[0].provider is 'scripted', which has no "
                                       "embedding_model"));
  const CommandOutput twice = Run(&cluster,
                                  "models { role: 'embedding' provider: 'embeds' } "
                                  "models { role: 'embedding' provider: 'embeds' model: 'x' }");
  EXPECT_THAT(twice.err, HasSubstr("models has two entries with the role 'embedding'"));
  const CommandOutput other =
      Run(&cluster, "shinka { embeddings: false } models { role: 'embedding' }");
  EXPECT_THAT(other.err, HasSubstr("models[0].role is 'embedding', must be code, notes, or empty"));
  EXPECT_THAT(Rows(cluster, "SELECT COUNT(*) FROM runs"), ElementsAre("1"));
}

}  // namespace
}  // namespace ksearch
