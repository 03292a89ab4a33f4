#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/reconnection.h"
#include "cli/text.h"
#include "common/grpc_channel.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

std::string TimeText(const google::protobuf::Timestamp& at) {
  return absl::FormatTime("%H:%M:%E3S", FromProto(at), absl::UTCTimeZone());
}

void PrintEntry(const v1::FeedEntry& entry) {
  if (entry.missed()) {
    std::fprintf(stderr,
                 "ksearch: this program read too slowly; events of the fleet are missing\n");
  }
  if (entry.has_run()) {
    std::printf("%s  %s  %s\n", TimeText(entry.run().event().at()).c_str(),
                entry.run().run_id().c_str(), EventText(entry.run().event()).c_str());
  } else if (entry.has_fleet()) {
    std::printf("%s  %s\n", TimeText(entry.fleet().at()).c_str(),
                FleetEventText(entry.fleet()).c_str());
  }
}

}  // namespace

int FeedCommand(Client* client, const Options& options) {
  v1::WatchFeedRequest request;
  if (options.after_cursor.has_value()) request.set_after(*options.after_cursor);
  request.set_without_runs(options.only_fleet);
  request.set_without_fleet(options.only_runs);
  Reconnection reconnection;
  while (true) {
    grpc::ClientContext context;
    const auto stream = client->stub().WatchFeed(&context, request);
    v1::FeedEntry entry;
    while (stream->Read(&entry)) {
      reconnection.NoteReply();
      // A reconnect continues after the last event seen.
      if (entry.cursor() > 0 || !request.has_after()) request.set_after(entry.cursor());
      if (options.json) {
        PrintJsonLine(entry);
      } else {
        PrintEntry(entry);
      }
      std::fflush(stdout);
      if (std::ferror(stdout) != 0) return kExitOther;
    }
    const absl::Status status = FromGrpc(stream->Finish());
    if (!reconnection.WaitToAskAgain(status)) return Fail(client->Explain(status));
  }
}

}  // namespace ksearch
