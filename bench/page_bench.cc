// The cost of open pages to a coordinator while runs proceed: processor time and memory of a
// process that has the real store, event feed, service and HTTP server, and whose runs take steps
// at an even pace. The pages are another process: each has a stream of events and a connection for
// requests over real sockets, sends the requests of the page's scripts, and, for comparison, those
// that a page without the feed would send once a second. The steps without any page come first.
//   ksearch_page_bench [PAGES [RUNS [SECONDS]]]    default: 200 pages, 50 runs, 20 s a phase
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "bench/bench_numbers.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/subprocess.h"
#include "common/textproto.h"
#include "common/unique_fd.h"
#include "tests/fakes/played_coordinator.h"

namespace ksearch {
namespace {

constexpr int kStepsPerSecond = 20;             // of all runs together, each with three events
constexpr int kNodes = 40;                      // of a run's tree
constexpr char kCoordinate[] = "--coordinate";  // an argument of this program's own

std::string RunName(int run) { return absl::StrCat("run-", run); }

// ---------------------------------------------------------------- the coordinator's process

struct Usage {
  double processor_s = 0;
  double memory_mib = 0;  // resident
};

Usage UsageNow() {
  struct rusage usage = {};
  CHECK(::getrusage(RUSAGE_SELF, &usage) == 0);
  Usage now;
  now.processor_s = absl::ToDoubleSeconds(absl::DurationFromTimeval(usage.ru_utime) +
                                          absl::DurationFromTimeval(usage.ru_stime));
  int64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  now.memory_mib = static_cast<double>(resident * ::sysconf(_SC_PAGESIZE)) / (1 << 20);
  return now;
}

void WriteLine(int fd, const std::string& line) {
  const std::string text = line + "\n";
  CHECK(::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

std::string ReadLine(int fd) {
  std::string line;
  char byte = 0;
  while (::read(fd, &byte, 1) == 1 && byte != '\n') line.push_back(byte);
  return line;
}

// Prints its port, takes steps until its input ends, and answers every line with what it has used.
void Coordinate(const std::string& folder, int runs, int in, int out) {
  PlayedCoordinator played(folder, {}, nullptr);
  for (int i = 0; i < runs; ++i) played.AddRun(RunName(i), kNodes);
  std::atomic<bool> stop{false};
  std::thread steps([&] {
    const Clock& clock = Clock::Real();
    const absl::Time start = clock.SteadyNow();
    for (int i = 0; !stop; ++i) {
      const int round = 1 + i / runs;
      played.Step(RunName(i % runs), played.RoundEvents(round),
                  [&](v1::RunStatus* status) { status->set_rounds_done(round); });
      v1::FleetEvent job;
      job.set_kind(v1::FleetEvent::LEASE_STARTED);
      job.set_worker_id("w1");
      *job.mutable_at() = ToProto(clock.Now());
      played.feed().Publish(std::move(job));
      const absl::Duration ahead =
          (i + 1) * absl::Seconds(1) / kStepsPerSecond - (clock.SteadyNow() - start);
      if (ahead > absl::ZeroDuration()) absl::SleepFor(ahead);
    }
  });
  const std::string& url = played.url();  // "http://127.0.0.1:PORT/"
  WriteLine(out, url.substr(url.rfind(':') + 1));
  while (!ReadLine(in).empty()) {
    const Usage now = UsageNow();
    WriteLine(out, absl::StrCat(now.processor_s, " ", now.memory_mib));
  }
  stop = true;
  steps.join();
}

// ---------------------------------------------------------------- the pages' process

UniqueFd Connect(int port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  return fd;
}

void Say(int fd, const std::string& target) {
  const std::string text = absl::StrCat("GET ", target, " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK(::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

enum class Way { kFeed, kPolling };

// One open page: every other one is the list of runs, the rest are pages of a run each.
class Page {
 public:
  Page(Way way, int port, int number, int runs)
      : way_(way),
        run_(number % 2 == 0 ? "" : RunName(number / 2 % runs)),
        random_(static_cast<unsigned>(number)),
        asks_(Connect(port)) {
    if (way_ == Way::kFeed) {
      stream_ = Connect(port);
      Say(stream_.get(), run_.empty() ? "/api/v1/events" : "/api/v1/events?run_id=" + run_);
    }
    thread_ = std::thread([this] { Loop(); });
  }
  ~Page() {
    stop_ = true;
    thread_.join();
  }
  int64_t events() const { return events_; }
  int64_t questions() const { return questions_; }

 private:
  void Loop() {
    const Clock& clock = Clock::Real();
    absl::Time due = absl::InfiniteFuture();
    if (way_ == Way::kPolling) due = clock.SteadyNow() + Spread(absl::Seconds(1));
    while (!stop_) {
      if (stream_.get() >= 0) {
        struct pollfd ready = {stream_.get(), POLLIN, 0};
        if (::poll(&ready, 1, 50) > 0 && TakeEvents() && due == absl::InfiniteFuture()) {
          // Like run_page.js, which fetches the tree again; runs_page.js fetches nothing.
          if (!run_.empty()) due = clock.SteadyNow() + Spread(absl::Milliseconds(500));
        }
      } else {
        absl::SleepFor(absl::Milliseconds(20));
      }
      if (clock.SteadyNow() < due) continue;
      due = absl::InfiniteFuture();
      if (way_ == Way::kFeed) {
        Ask("/api/v1/GetTree?run_id=" + run_);
        continue;
      }
      if (run_.empty()) {
        Ask("/api/v1/ListRuns");
      } else {
        Ask("/api/v1/GetRun?run_id=" + run_);
        Ask(absl::StrCat("/api/v1/ListEvents?run_id=", run_, "&after_seq=", last_seq_));
        Ask("/api/v1/GetTree?run_id=" + run_);
      }
      due = clock.SteadyNow() + Spread(absl::Seconds(1));
    }
  }

  absl::Duration Spread(absl::Duration delay) {
    return delay * (0.5 + std::uniform_real_distribution<double>()(random_));
  }

  // Returns whether any of them was a run's.
  bool TakeEvents() {
    char bytes[1 << 16];
    const ssize_t size = ::read(stream_.get(), bytes, sizeof(bytes));
    CHECK(size > 0);  // the server ended it
    text_.append(bytes, static_cast<size_t>(size));
    bool of_runs = false;
    for (size_t end = text_.find("\n\n"); end != std::string::npos; end = text_.find("\n\n")) {
      of_runs = of_runs || text_.compare(0, 4, "id: ") == 0;
      ++events_;
      text_.erase(0, end + 2);
    }
    return of_runs;
  }

  // Reads the whole answer.
  void Ask(const std::string& target) {
    ++questions_;
    Say(asks_.get(), target);
    std::string answer;
    size_t whole = std::string::npos;
    while (answer.size() < whole) {
      char bytes[1 << 16];
      const ssize_t size = ::read(asks_.get(), bytes, sizeof(bytes));
      CHECK(size > 0);
      answer.append(bytes, static_cast<size_t>(size));
      const size_t head = answer.find("\r\n\r\n");
      if (whole != std::string::npos || head == std::string::npos) continue;
      const size_t length = answer.find("Content-Length: ");
      int64_t body = 0;
      CHECK(length < head &&
            absl::SimpleAtoi(answer.substr(length + 16, answer.find('\r', length) - length - 16),
                             &body));
      whole = head + 4 + static_cast<size_t>(body);
    }
    CHECK(answer.compare(0, 12, "HTTP/1.1 200") == 0);
    // The last event's number, where the next request begins.
    const size_t seq = answer.rfind("\"seq\":\"");
    if (seq != std::string::npos) {
      (void)absl::SimpleAtoi(answer.substr(seq + 7, answer.find('"', seq + 7) - seq - 7),
                             &last_seq_);
    }
  }

  const Way way_;
  const std::string run_;
  std::mt19937 random_;
  UniqueFd asks_;
  UniqueFd stream_;
  std::string text_;
  int64_t last_seq_ = 0;
  std::atomic<int64_t> events_{0};
  std::atomic<int64_t> questions_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

class Measurement {
 public:
  Measurement(int to, int from, int seconds) : to_(to), from_(from), seconds_(seconds) {}

  Usage Read() const {
    WriteLine(to_, "usage");
    Usage usage;
    CHECK(std::sscanf(ReadLine(from_).c_str(), "%lf %lf", &usage.processor_s, &usage.memory_mib) ==
          2);
    return usage;
  }
  // The processor's share over one phase, in percent of a core.
  double Share() const {
    const absl::Time start = Clock::Real().SteadyNow();
    const Usage before = Read();
    absl::SleepFor(absl::Seconds(seconds_));
    const Usage after = Read();
    return 100 * (after.processor_s - before.processor_s) /
           absl::ToDoubleSeconds(Clock::Real().SteadyNow() - start);
  }

 private:
  const int to_;
  const int from_;
  const int seconds_;
};

void Measure(const Measurement& measurement, int port, int pages, int runs) {
  absl::SleepFor(absl::Seconds(2));
  const double nobody = measurement.Share();
  const double memory = measurement.Read().memory_mib;
  std::printf("nobody: %.1f %% of a core, %.1f MiB\n", nobody, memory);
  for (const auto& [way, name] :
       {std::pair(Way::kFeed, "feed"), std::pair(Way::kPolling, "polling")}) {
    std::vector<std::unique_ptr<Page>> open;
    for (int i = 0; i < pages; ++i) open.push_back(std::make_unique<Page>(way, port, i, runs));
    absl::SleepFor(absl::Seconds(2));
    const double share = measurement.Share();
    int64_t events = 0, questions = 0;
    for (const auto& page : open) {
      events += page->events();
      questions += page->questions();
    }
    std::printf(
        "%s: %d pages, %d runs: %.1f %% of a core and %.1f MiB beyond nobody's (%lld events shown, "
        "%lld questions)\n",
        name, pages, runs, share - nobody, measurement.Read().memory_mib - memory,
        static_cast<long long>(events), static_cast<long long>(questions));
    std::fflush(stdout);
  }
}

int Run(const std::string& folder, int pages, int runs, int seconds) {
  int to[2], from[2];
  CHECK(::pipe2(to, O_CLOEXEC) == 0 && ::pipe2(from, O_CLOEXEC) == 0);
  SubprocessOptions coordinator;
  coordinator.argv = {std::filesystem::read_symlink("/proc/self/exe").string(), kCoordinate, folder,
                      absl::StrCat(runs)};
  coordinator.inherited_fds = {{to[0], 0}, {from[1], 1}, {2, 2}};
  auto process = Subprocess::Start(coordinator);
  CHECK_OK(process.status());
  ::close(to[0]);
  ::close(from[1]);
  int port = 0;
  CHECK(absl::SimpleAtoi(absl::StripSuffix(ReadLine(from[0]), "/"), &port));
  Measure(Measurement(to[1], from[0], seconds), port, pages, runs);
  ::close(to[1]);
  const auto exit = (*process)->Wait(absl::InfiniteFuture());
  return exit.has_value() && !exit->signaled ? exit->code : 1;
}

}  // namespace
}  // namespace ksearch

int main(int argc, char** argv) {
  if (argc == 4 && absl::string_view(argv[1]) == ksearch::kCoordinate) {
    int runs = 0;
    if (!absl::SimpleAtoi(argv[3], &runs)) return 2;
    ksearch::Coordinate(argv[2], runs, STDIN_FILENO, STDOUT_FILENO);
    return 0;
  }
  int numbers[] = {200, 50, 20};
  if (!ksearch::ReadCounts(argc, argv, {&numbers[0], &numbers[1], &numbers[2]})) {
    std::fprintf(stderr, "usage: %s [PAGES [RUNS [SECONDS]]]\n", argv[0]);
    return 2;
  }
  std::string folder = (std::filesystem::temp_directory_path() / "page_bench_XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return 1;
  const int code = ksearch::Run(folder, numbers[0], numbers[1], numbers[2]);
  std::filesystem::remove_all(folder);
  return code;
}
