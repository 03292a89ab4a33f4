#include "autoscaler/fleet/command_fleet.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "autoscaler/fleet/program_call.h"
#include "common/digest.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

constexpr absl::Duration kDefaultTimeout = absl::Seconds(60);

}  // namespace

absl::StatusOr<std::unique_ptr<FleetProvider>> CommandFleet::Create(const v1::WorkerPool& pool) {
  if (pool.command().argv().empty()) {
    return absl::InvalidArgumentError("command.argv: name the program");
  }
  return std::unique_ptr<FleetProvider>(new CommandFleet(pool));
}

absl::StatusOr<std::string> CommandFleet::Call(std::vector<std::string> words) const {
  ProgramCall call;
  call.argv.assign(pool_.command().argv().begin(), pool_.command().argv().end());
  call.argv.insert(call.argv.end(), words.begin(), words.end());
  call.environment = {{"KSEARCH_POOL", pool_.name()},
                      {"KSEARCH_COORDINATOR", pool_.coordinator_for_workers()},
                      {"KSEARCH_LEAVE_GRACE", absl::FormatDuration(FromProto(pool_.leave_grace()))},
                      {"KSEARCH_IDLE_TIMEOUT", absl::FormatDuration(FromProto(pool_.cool_down()))}};
  call.timeout =
      pool_.command().has_timeout() ? FromProto(pool_.command().timeout()) : kDefaultTimeout;
  return CallProgram(call);
}

absl::StatusOr<Fleet> CommandFleet::List() {
  ASSIGN_OR_RETURN(const std::string out, Call({"list"}));
  Fleet fleet;
  for (const absl::string_view line : absl::StrSplit(out, '\n', absl::SkipWhitespace())) {
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, absl::MaxSplits(absl::ByAnyChar(" \t"), 2));
    Instance& instance = fleet.instances.emplace_back();
    instance.id = std::string(words[0]);
    const absl::string_view state = words.size() > 1 ? words[1] : "";
    if (state == "running") instance.state = Instance::State::kRunning;
    if (state == "failed") instance.state = Instance::State::kFailed;
    if ((state != "running" && state != "failed" && state != "pending") ||
        !IsInstanceId(words[0])) {
      return absl::InvalidArgumentError(
          absl::StrCat(pool_.command().argv(0), " list: '", OneLine(line),
                       "' is not INSTANCE pending|running|failed [why]"));
    }
    if (words.size() > 2) instance.note = OneLine(words[2]);
  }
  return fleet;
}

absl::Status CommandFleet::Start(int count) {
  for (int i = 0; i < count; ++i) {
    RETURN_IF_ERROR(Call({"start", absl::StrCat(pool_.name(), "-", RandomHex(4))}).status());
  }
  return absl::OkStatus();
}

absl::Status CommandFleet::Stop(const std::string& id, Manner manner) {
  return Call({manner == Manner::kGently ? "stop" : "kill", id}).status();
}

std::string CommandFleet::Plan() const {
  return absl::StrCat(absl::StrJoin(pool_.command().argv(), " "), " start INSTANCE\n");
}

}  // namespace ksearch
