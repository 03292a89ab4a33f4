// The memory of measured gains: lists it, shows what a run read from it, and forgets gains.
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/text.h"
#include "common/memory_words.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

using Stub = v1::SearchService::Stub;
using Row = std::vector<std::string>;

void Print(const std::string& text) { std::fputs(text.c_str(), stdout); }

// "1.31x [1.08, 1.62]": median and quartiles.
std::string SpeedupText(const v1::MemoryPrior& prior) {
  if (prior.passed() == 0) return "-";
  return absl::StrFormat("%.2fx [%.2f, %.2f]", prior.median_speedup(), prior.low_speedup(),
                         prior.high_speedup());
}

void AddPrior(const v1::MemoryPrior& prior, Row row, std::vector<Row>* rows) {
  row.push_back(IntentWord(prior.intent()));
  row.push_back(BottleneckWord(prior.bottleneck()));
  row.push_back(prior.over_baseline() ? "the baseline" : "a program");
  for (const int count : {prior.tried(), prior.passed(), prior.faster(), prior.tasks()}) {
    row.push_back(absl::StrCat(count));
  }
  row.push_back(SpeedupText(prior));
  rows->push_back(std::move(row));
}

int ListGroups(const v1::ListMemoryReply& reply) {
  std::vector<Row> rows = {{"op_type", "architecture", "language", "intent", "limited by", "over",
                            "tried", "right", "faster", "tasks", "speedup"}};
  for (const v1::MemoryGroup& group : reply.groups()) {
    for (const v1::MemoryPrior& prior : group.priors()) {
      AddPrior(prior, {group.op_type(), group.architecture(), LanguageText(group.language())},
               &rows);
    }
  }
  Print(Table(rows));
  return kExitOk;
}

int ListGains(const v1::ListMemoryReply& reply) {
  std::vector<Row> rows = {{"recorded", "run", "candidate", "task", "architecture", "intent",
                            "limited by", "over", "speedup"}};
  for (const v1::MeasuredGain& gain : reply.gains()) {
    rows.push_back({absl::FormatTime("%Y-%m-%d %H:%M:%S", FromProto(gain.recorded_at()),
                                     absl::LocalTimeZone()),
                    gain.run_id(), ShortId(gain.candidate_id()), gain.task(), gain.architecture(),
                    IntentWord(gain.intent()), BottleneckWord(gain.bottleneck()),
                    gain.over_baseline() ? "the baseline" : "a program",
                    gain.passed() ? absl::StrFormat("%.2fx", gain.speedup()) : "not right"});
  }
  Print(Table(rows));
  if (reply.more()) Print("older ones were left out; see --limit\n");
  return kExitOk;
}

int List(Client* client, const Options& options) {
  v1::ListMemoryRequest request;
  *request.mutable_filter() = options.memory_filter;
  request.set_one_by_one(options.one_by_one);
  request.set_limit(options.limit);
  const auto reply =
      client->Call<v1::ListMemoryRequest, v1::ListMemoryReply>(&Stub::ListMemory, request);
  if (!reply.ok()) return Fail(reply.status());
  if (options.json) return PrintJson(*reply);
  return options.one_by_one ? ListGains(*reply) : ListGroups(*reply);
}

int Show(Client* client, const Options& options) {
  v1::GetRunMemoryRequest request;
  request.set_run_id(options.run_id);
  const auto reply =
      client->Call<v1::GetRunMemoryRequest, v1::RunMemory>(&Stub::GetRunMemory, request);
  if (!reply.ok()) return Fail(reply.status());
  if (options.json) return PrintJson(*reply);
  Print(absl::StrCat(reply->run_id(), "  memory ", MemoryModeWord(reply->use().mode()),
                     reply->use().within_benchmark() ? ", within its benchmark too" : "", "; read ",
                     reply->snapshot().priors_size(), " priors of ", reply->snapshot().gains(),
                     " measured gains; wrote ", reply->gains_written(), "\n"));
  if (!reply->has_snapshot()) return kExitOk;
  std::vector<Row> rows = {
      {"op_type", "intent", "limited by", "over", "tried", "right", "faster", "tasks", "speedup"}};
  for (const v1::MemoryPrior& prior : reply->snapshot().priors()) {
    AddPrior(prior, {prior.same_op_type() ? "the same" : "others"}, &rows);
  }
  Print(Table(rows));
  return kExitOk;
}

int Forget(Client* client, const Options& options) {
  v1::ForgetMemoryRequest request;
  *request.mutable_filter() = options.memory_filter;
  request.set_all(options.forget_all);
  const auto reply =
      client->Call<v1::ForgetMemoryRequest, v1::ForgetMemoryReply>(&Stub::ForgetMemory, request);
  if (!reply.ok()) return Fail(reply.status());
  if (options.json) return PrintJson(*reply);
  Print(absl::StrCat(reply->gains(), " measured gains forgotten\n"));
  return kExitOk;
}

}  // namespace

int MemoryCommand(Client* client, const Options& options) {
  if (options.action == "show") return Show(client, options);
  if (options.action == "forget") return Forget(client, options);
  return List(client, options);
}

}  // namespace ksearch
