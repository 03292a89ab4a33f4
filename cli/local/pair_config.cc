#include "cli/local/pair_config.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

const v1::ModelProvider* Find(const v1::CoordinatorConfig& config, const std::string& name) {
  const auto found =
      std::find_if(config.providers().begin(), config.providers().end(),
                   [&name](const v1::ModelProvider& provider) { return provider.name() == name; });
  return found == config.providers().end() ? nullptr : &*found;
}

}  // namespace

v1::CoordinatorConfig LocalCoordinatorConfig(const LocalFolder& folder,
                                             const std::vector<ModelSource>& sources) {
  v1::CoordinatorConfig config;
  config.set_listen_address(folder.address());
  config.set_state_dir(folder.coordinator_state());
  config.add_task_dirs(folder.tasks());
  for (const ModelSource& source : sources) {
    if (source.usable) *config.add_providers() = source.provider;
  }
  return config;
}

v1::WorkerConfig LocalWorkerConfig(const LocalFolder& folder, const v1::WorkerConfig& abilities) {
  v1::WorkerConfig config = abilities;
  config.set_coordinator_address(folder.address());
  config.set_state_dir(folder.worker_state());
  config.set_name(kLocalWorkerName);
  // `ksearch down` says how long it waits for evaluations in progress.
  config.mutable_leave_grace()->set_seconds(3600);
  config.set_run_as_uid(kLocalWorkerAccount);
  config.set_run_as_gid(kLocalWorkerAccount);
  return config;
}

std::string ConfigText(const google::protobuf::Message& config) {
  return absl::StrCat(
      "# proto-file: proto/config.proto\n# proto-message: ", config.GetDescriptor()->full_name(),
      "\n#\n# Written by `ksearch up`, which overwrites it at every start.\n\n",
      ToTextproto(config));
}

std::vector<std::string> NewProviders(const v1::CoordinatorConfig& running,
                                      const v1::CoordinatorConfig& wanted) {
  std::vector<std::string> names;
  for (const v1::ModelProvider& provider : wanted.providers()) {
    const v1::ModelProvider* const known = Find(running, provider.name());
    if (known == nullptr || ToTextproto(*known) != ToTextproto(provider)) {
      names.push_back(provider.name());
    }
  }
  return names;
}

std::vector<std::string> LostProviders(const v1::CoordinatorConfig& running,
                                       const v1::CoordinatorConfig& wanted) {
  std::vector<std::string> names;
  for (const v1::ModelProvider& provider : running.providers()) {
    if (Find(wanted, provider.name()) == nullptr) names.push_back(provider.name());
  }
  return names;
}

}  // namespace ksearch
