#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/pool_text.h"

namespace ksearch {

int DemandCommand(Client* client, const Options& options) {
  using Stub = v1::SearchService::Stub;
  const auto reply =
      client->Call<v1::GetDemandRequest, v1::DemandReply>(&Stub::GetDemand, v1::GetDemandRequest());
  if (!reply.ok()) return Fail(reply.status());
  if (options.json) return PrintJson(*reply);
  const std::string pools = PoolsText(reply->pools(), absl::Now());
  std::fputs(absl::StrCat(DemandText(*reply), pools.empty() ? "" : "\n", pools).c_str(), stdout);
  return kExitOk;
}

}  // namespace ksearch
