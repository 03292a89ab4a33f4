#include "tests/integration/scripted_run.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "coordinator/store/database.h"
#include "coordinator/store/world_model_rows.h"
#include "tests/integration/store_rows.h"

namespace ksearch {
namespace {

constexpr absl::Duration kThinkingTime = absl::Milliseconds(100);
constexpr absl::Duration kLookEvery = absl::Milliseconds(50);

}  // namespace

ScriptedRun::ScriptedRun(const std::string& task, const std::string& cassette,
                         const std::string& config, const std::vector<std::string>& args,
                         const std::string& worker_config) {
  auto models = CountingModelServer::Start(LocalCluster::SourcePath(cassette), kThinkingTime);
  EXPECT_TRUE(models.ok()) << models.status();
  models_ = *std::move(models);
  cluster_.UseModelServer(models_->url());
  cluster_.UseOwnDevice();
  if (!worker_config.empty()) cluster_.AddToWorkerConfig(worker_config);
  StartCoordinator();
  cluster_.StartWorker("w1");
  std::vector<std::string> words = {
      "run", "--task", task, "--config", LocalCluster::SourcePath(config), "--detach"};
  words.insert(words.end(), args.begin(), args.end());
  const CommandOutput started = cluster_.Cli(words);
  EXPECT_EQ(started.exit.code, 0) << started.err;
}

void ScriptedRun::StartCoordinator() {
  cluster_.StartCoordinator("", LocalCluster::SourcePath("tests/integration/data/tasks"));
}

v1::RunStatus ScriptedRun::Status() const {
  return ReadMessage<v1::RunStatus>("SELECT status FROM run_states");
}

bool ScriptedRun::Ended() const { return Status().state() != v1::RUN_STATE_RUNNING; }

void ScriptedRun::AwaitEnd(absl::Duration limit) {
  const absl::Time give_up = absl::Now() + limit;
  while (!Ended() && absl::Now() < give_up) absl::SleepFor(kLookEvery);
  const v1::RunStatus status = Status();
  EXPECT_EQ(status.state(), v1::RUN_STATE_FINISHED) << status.ShortDebugString();
}

v1::WorldModel ScriptedRun::Tree() const {
  const std::string path = cluster_.folder() + "/state/ksearch.db";
  const auto database = Database::Open(path, Database::Mode::kReadOnly).value();
  const auto tree = world_model_rows::Read(*database, Rows("SELECT run_id FROM runs").at(0), 0);
  EXPECT_TRUE(tree.ok()) << tree.status();
  return tree.value_or(v1::WorldModel());
}

template <typename Message>
Message ScriptedRun::ReadMessage(const std::string& query) const {
  Message message;
  const std::vector<std::string> rows = Rows(query);
  EXPECT_EQ(rows.size(), 1u) << query;
  const bool parsed = !rows.empty() && message.ParseFromString(rows[0]);
  EXPECT_TRUE(parsed) << query;
  return message;
}

std::vector<std::string> ScriptedRun::Rows(const std::string& query) const {
  return StoreRows(cluster_.folder() + "/state/ksearch.db", query);
}

}  // namespace ksearch
