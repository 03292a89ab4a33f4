#include "tests/autoscaler/fleet_steps.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace ksearch {
namespace {

using nlohmann::json;

const char* Name(Instance::State state) {
  switch (state) {
    case Instance::State::kPending:
      return "pending";
    case Instance::State::kRunning:
      return "running";
    case Instance::State::kFailed:
      return "failed";
  }
  return "";
}

json Outcome(const absl::Status& status) {
  return status.ok() ? json::object() : json{{"error", std::string(status.message())}};
}

}  // namespace

json FleetSteps::List() {
  const auto fleet = provider_->List();
  if (!fleet.ok()) return Outcome(fleet.status());
  ids_.clear();
  json instances = json::array();
  for (const Instance& instance : fleet->instances) {
    ids_.push_back(instance.id);
    instances.push_back(
        {{"id", instance.id}, {"state", Name(instance.state)}, {"note", instance.note}});
  }
  return {{"instances", instances}, {"coming", fleet->coming}, {"fault", fleet->fault}};
}

json FleetSteps::Do(const std::string& step) {
  const std::vector<std::string> words = absl::StrSplit(step, ' ');
  if (words == std::vector<std::string>{"list"}) return List();
  int number = 0;
  if (words.size() == 2 && absl::SimpleAtoi(words[1], &number) && number >= 0) {
    if (words[0] == "start") return Outcome(provider_->Start(number));
    if (words[0] == "withdraw") return Outcome(provider_->Withdraw(number));
    const auto index = static_cast<size_t>(number);
    if (index < ids_.size()) {
      if (words[0] == "stop") {
        return Outcome(provider_->Stop(ids_[index], FleetProvider::Manner::kGently));
      }
      if (words[0] == "kill") {
        return Outcome(provider_->Stop(ids_[index], FleetProvider::Manner::kAtOnce));
      }
    }
  }
  return {{"error", absl::StrCat("no such step: ", step)}};
}

}  // namespace ksearch
