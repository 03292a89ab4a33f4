#ifndef KSEARCH_TESTS_INTEGRATION_SCRIPTED_RUN_H_
#define KSEARCH_TESTS_INTEGRATION_SCRIPTED_RUN_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "proto/search_service.pb.h"
#include "proto/world_model.pb.h"
#include "tests/integration/counting_model_server.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {

// One search that follows a cassette, with real programs on its own store: a coordinator and the
// worker "w1". Results are read from the database, so that they are available even if the
// coordinator is being killed or busy.
class ScriptedRun {
 public:
  // `task` is one of tests/integration/data/tasks. `cassette` and `config` relative to the source
  // tree; `args` are further ones of `ksearch run`; `worker_config` is added to the worker's.
  ScriptedRun(const std::string& task, const std::string& cassette, const std::string& config,
              const std::vector<std::string>& args, const std::string& worker_config = "");

  LocalCluster& cluster() { return cluster_; }
  // Again, after it was killed.
  void StartCoordinator();

  v1::RunStatus Status() const;
  bool Ended() const;
  // Fails the test if the run has not finished by then.
  void AwaitEnd(absl::Duration limit);

  v1::WorldModel Tree() const;
  // First column of each row. REQUIRES: the coordinator is running.
  std::vector<std::string> Rows(const std::string& query) const;
  std::map<std::string, int> calls() const { return models_->calls(); }

 private:
  template <typename Message>
  Message ReadMessage(const std::string& query) const;

  std::unique_ptr<CountingModelServer> models_;
  LocalCluster cluster_;
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_INTEGRATION_SCRIPTED_RUN_H_
