#include "cli/run_watcher.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "cli/text.h"
#include "common/run_facts.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

constexpr absl::Duration kReconnectFor = absl::Seconds(60);
constexpr int kBarCells = 24;

// Draws below the last event line; erased before the next one.
class ProgressBar {
 public:
  ProgressBar() : on_(::isatty(STDOUT_FILENO) == 1) {}
  ~ProgressBar() { Erase(); }

  void Erase() {
    if (on_ && drawn_) std::fputs("\r\033[K", stdout);
    drawn_ = false;
  }
  void Draw(const v1::RunStatus& status) {
    if (!on_ || HasEnded(status.state())) return;
    const int total = std::max(status.rounds_total(), 1);
    const int filled = std::min(kBarCells, status.rounds_done() * kBarCells / total);
    std::string line = absl::StrCat("[", std::string(static_cast<size_t>(filled), '#'),
                                    std::string(static_cast<size_t>(kBarCells - filled), '-'), "] ",
                                    StatusLine(status));
    struct winsize size = {};
    ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    if (size.ws_col > 1 && line.size() >= size.ws_col) line.resize(size.ws_col - 1U);
    std::printf("\r\033[K%s", line.c_str());
    std::fflush(stdout);
    drawn_ = true;
  }

 private:
  const bool on_;
  bool drawn_ = false;
};

void PrintEvent(const v1::RunEvent& event, absl::Time started, bool json) {
  if (json) {
    std::printf("%s\n", ToJson(event, false, false).c_str());
  } else {
    const absl::Duration since = FromProto(event.at()) - started;
    std::printf("%7.1fs  %s\n", absl::ToDoubleSeconds(since), EventText(event).c_str());
  }
  std::fflush(stdout);
}

}  // namespace

absl::StatusOr<v1::RunStatus> WatchRun(Client* client, const std::string& run_id, bool json) {
  ProgressBar bar;
  v1::RunStatus latest;
  int64_t seen = 0;
  absl::Time give_up = absl::Now() + kReconnectFor;
  while (true) {
    grpc::ClientContext context;
    v1::WatchRunRequest request;
    // "last" may mean another run after a reconnect.
    request.set_run_id(latest.run_id().empty() ? run_id : latest.run_id());
    request.set_after_seq(seen);
    const auto stream = client->stub().WatchRun(&context, request);
    v1::WatchRunReply reply;
    while (stream->Read(&reply)) {
      give_up = absl::Now() + kReconnectFor;
      bar.Erase();
      latest = reply.status();
      if (reply.has_event()) {
        seen = reply.event().seq();
        PrintEvent(reply.event(), FromProto(latest.started_at()), json);
      }
      bar.Draw(latest);
    }
    const grpc::Status status = stream->Finish();
    if (status.ok()) return latest;
    if (status.error_code() != grpc::StatusCode::UNAVAILABLE || seen == 0 ||
        absl::Now() >= give_up) {
      return client->Explain(FromGrpc(status));
    }
    absl::SleepFor(absl::Milliseconds(500));
  }
}

std::string FinalTable(const v1::RunStatus& status, const v1::ListEventsReply& events) {
  std::vector<std::vector<std::string>> rows = {{"round", "node", "candidate", "what came of it"}};
  for (const v1::RunEvent& event : events.events()) {
    std::string what;
    switch (event.kind()) {
      case v1::RunEvent::CANDIDATE_PASSED:
        what = absl::StrFormat("passed, %.2fx", event.score());
        break;
      case v1::RunEvent::CANDIDATE_FAILED:
        what = event.text();
        break;
      case v1::RunEvent::NEW_INCUMBENT:
        what = absl::StrCat("NEW INCUMBENT: ", event.text());
        break;
      case v1::RunEvent::CONFIRMATION_REFUSED:
        what = absl::StrCat("not confirmed: ", event.text());
        break;
      case v1::RunEvent::NODE_TOO_HARD:
        what = absl::StrCat("too hard: ", event.text());
        break;
      case v1::RunEvent::NODE_PRUNED:
        what = absl::StrCat("pruned: ", event.text());
        break;
      default:
        continue;
    }
    if (what.size() > 100) what = what.substr(0, 97) + "...";
    rows.push_back({event.round() > 0 ? absl::StrCat(event.round()) : "", event.node_id(),
                    ShortId(event.candidate_id()), what});
  }
  std::string text = Table(rows);
  absl::StrAppendFormat(&text, "\n%s: %d of %d rounds, %d candidates (%d passed), %d model calls",
                        status.run_id(), status.rounds_done(), status.rounds_total(),
                        status.candidates(), status.passed(), status.llm_calls());
  if (!status.reason().empty()) absl::StrAppend(&text, "; ", status.reason());
  absl::StrAppend(&text, "\n");
  if (status.has_best()) {
    absl::StrAppend(&text, "best: ", ShortId(status.best().candidate_id()), " (",
                    status.best().node_id(), "), ", BestText(status.best()),
                    " over the baseline\n");
  } else {
    absl::StrAppend(&text, "no candidate was confirmed faster than the baseline\n");
  }
  return text;
}

}  // namespace ksearch
