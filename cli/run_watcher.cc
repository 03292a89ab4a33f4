#include "cli/run_watcher.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "cli/event_color.h"
#include "cli/json_output.h"
#include "cli/reconnection.h"
#include "cli/text.h"
#include "common/mutex.h"
#include "common/run_facts.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

constexpr int kBarCells = 24;
constexpr absl::Duration kProgressEvery = absl::Seconds(30);
constexpr int kInterrupted = 130;  // by the shells' convention: 128 + SIGINT

// The text that an interrupt prints; read by a signal handler, so never freed.
std::atomic<const char*> interrupt_note = nullptr;

void OnInterrupt(int /*signal*/) {
  if (const char* note = interrupt_note.load(); note != nullptr) {
    (void)!::write(STDERR_FILENO, note, std::strlen(note));
  }
  ::_exit(kInterrupted);
}

// While an instance exists, an interrupt prints that the run continues.
class InterruptNote {
 public:
  InterruptNote() : before_(std::signal(SIGINT, OnInterrupt)) {
    if (before_ == SIG_IGN) std::signal(SIGINT, SIG_IGN);  // as of a job in the background
  }
  ~InterruptNote() { std::signal(SIGINT, before_); }
  InterruptNote(const InterruptNote&) = delete;
  InterruptNote& operator=(const InterruptNote&) = delete;

  void Name(const std::string& run_id) {
    if (named_) return;
    named_ = true;
    const std::string text = absl::StrCat(
        "\nksearch: run ", run_id, " continues and keeps spending; to stop it: ", "ksearch stop ",
        run_id, "; see it again: ksearch watch ", run_id, "\n");
    interrupt_note = ::strdup(text.c_str());
  }

 private:
  void (*const before_)(int);
  bool named_ = false;
};

// Prints the run's progress on stderr whenever nothing was printed for a while.
class ProgressLines {
 public:
  // `every` zero: never.
  ProgressLines(Client* client, absl::Duration every) : client_(client), every_(every) {
    if (every_ > absl::ZeroDuration()) thread_ = std::thread([this] { Loop(); });
  }
  ~ProgressLines() {
    {
      MutexLock lock(&mu_);
      closing_ = true;
      changed_.NotifyAll();
    }
    if (thread_.joinable()) thread_.join();
  }
  ProgressLines(const ProgressLines&) = delete;
  ProgressLines& operator=(const ProgressLines&) = delete;

  // Something else was printed.
  void Note(const std::string& run_id) {
    MutexLock lock(&mu_);
    run_id_ = run_id;
    next_ = absl::Now() + every_;
  }

 private:
  void Loop() {
    while (true) {
      std::string run_id;
      {
        MutexLock lock(&mu_);
        while (!closing_ && (run_id_.empty() || absl::Now() < next_)) {
          changed_.WaitFor(&mu_, std::min(every_, absl::Seconds(1)));
        }
        if (closing_) return;
        run_id = run_id_;
        next_ = absl::Now() + every_;
      }
      v1::GetRunRequest request;
      request.set_run_id(run_id);
      const auto status = client_->Call<v1::GetRunRequest, v1::RunStatus>(
          &v1::SearchService::Stub::GetRun, request);
      const std::string text =
          status.ok() ? StatusLine(*status) : absl::StrCat("no news: ", status.status().message());
      std::fprintf(stderr, "%s  %s\n", run_id.c_str(), text.c_str());
    }
  }

  Client* const client_;
  const absl::Duration every_;
  Mutex mu_;
  CondVar changed_;
  std::string run_id_ ABSL_GUARDED_BY(mu_);  // empty: not known yet
  absl::Time next_ ABSL_GUARDED_BY(mu_);
  bool closing_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

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

// The reason for which a run has failed is the command's error message: its event need not repeat
// it.
v1::RunEvent Shown(v1::RunEvent event, const v1::RunStatus& status) {
  if (event.kind() == v1::RunEvent::RUN_ENDED && status.state() == v1::RUN_STATE_FAILED &&
      event.text() == absl::StrCat("failed: ", status.reason())) {
    event.set_text("failed");
  }
  return event;
}

void PrintEvent(const v1::RunEvent& event, absl::Time started, bool json) {
  if (json) {
    v1::WatchRunReply line;
    *line.mutable_event() = event;
    return PrintJsonLine(line);
  }
  const absl::Duration since = FromProto(event.at()) - started;
  std::printf("%7.1fs  %s\n", absl::ToDoubleSeconds(since),
              InColor(event, EventText(event), ShowsColors()).c_str());
  std::fflush(stdout);
}

}  // namespace

absl::StatusOr<v1::RunStatus> WatchRun(Client* client, const std::string& run_id,
                                       const Options& options) {
  const bool quiet = options.json || ::isatty(STDOUT_FILENO) == 1;
  ProgressLines progress(client,
                         options.progress.value_or(quiet ? absl::ZeroDuration() : kProgressEvery));
  InterruptNote interrupt;
  ProgressBar bar;
  bool begun = false;
  v1::RunStatus latest;
  int64_t seen = 0;
  Reconnection reconnection;
  while (true) {
    grpc::ClientContext context;
    v1::WatchRunRequest request;
    // "last" may mean another run after a reconnect.
    request.set_run_id(latest.run_id().empty() ? run_id : latest.run_id());
    request.set_after_seq(seen);
    const auto stream = client->stub().WatchRun(&context, request);
    v1::WatchRunReply reply;
    while (stream->Read(&reply)) {
      reconnection.NoteReply();
      bar.Erase();
      latest = reply.status();
      interrupt.Name(latest.run_id());
      progress.Note(latest.run_id());
      if (options.json && !begun) {
        v1::WatchRunReply first;
        *first.mutable_status() = latest;
        PrintJsonLine(first);
      }
      begun = true;
      if (reply.has_event()) {
        seen = reply.event().seq();
        PrintEvent(options.json ? reply.event() : Shown(reply.event(), latest),
                   FromProto(latest.started_at()), options.json);
      }
      if (!options.json) bar.Draw(latest);
    }
    const absl::Status status = FromGrpc(stream->Finish());
    if (status.ok()) return latest;
    if (seen == 0 || !reconnection.WaitToAskAgain(status)) return client->Explain(status);
  }
}

absl::Status FollowRun(Client* client, const std::string& run_id, int64_t after_seq,
                       const std::function<void(const v1::RunEvent&)>& take) {
  v1::WatchRunRequest request;
  request.set_run_id(run_id);
  request.set_after_seq(after_seq);
  Reconnection reconnection;
  while (true) {
    grpc::ClientContext context;
    const auto stream = client->stub().WatchRun(&context, request);
    v1::WatchRunReply reply;
    while (stream->Read(&reply)) {
      reconnection.NoteReply();
      // "last" may mean another run after a reconnect.
      request.set_run_id(reply.status().run_id());
      if (!reply.has_event()) continue;
      request.set_after_seq(reply.event().seq());
      take(reply.event());
    }
    const absl::Status status = FromGrpc(stream->Finish());
    if (status.ok()) return absl::OkStatus();
    if (!reconnection.WaitToAskAgain(status)) return client->Explain(status);
  }
}

std::string FinalTable(const v1::RunStatus& status, const v1::ListEventsReply& events) {
  std::vector<std::vector<std::string>> rows = {{"round", "node", "candidate", "result"}};
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
      case v1::RunEvent::STEERED:
        what = event.text();
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
  std::string text = rows.size() > 1 ? Table(rows) + "\n" : "";
  absl::StrAppendFormat(&text, "%s: %d of %d rounds, %s (%d passed), %s", status.run_id(),
                        status.rounds_done(), status.rounds_total(),
                        CountText(status.candidates(), "candidate"), status.passed(),
                        CountText(status.llm_calls(), "model call"));
  // Why a run failed is the command's error message.
  if (!status.reason().empty() && status.state() != v1::RUN_STATE_FAILED) {
    absl::StrAppend(&text, "; ", status.reason());
  }
  absl::StrAppend(&text, "\n");
  if (status.has_best()) {
    absl::StrAppend(&text, "best: ", ShortId(status.best().candidate_id()), " (",
                    status.best().node_id(), "), ", BestText(status.best()),
                    " over the baseline\n");
  } else {
    absl::StrAppend(&text, "no candidate was confirmed faster than the baseline\n");
  }
  absl::StrAppend(&text, DegenerateText(status.degenerate()));
  return text;
}

}  // namespace ksearch
