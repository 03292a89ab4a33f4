// ksearch-model-server: plays a cassette, or a model that knows a landscape, as an
// OpenAI-compatible server on a loopback port, so that searches run without a model: in tests,
// demonstrations, when trying a configuration, and when comparing strategies.

#include <getopt.h>

#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/mutex.h"
#include "common/shutdown.h"
#include "common/textproto.h"
#include "coordinator/llm/model_server/cassette.h"
#include "coordinator/llm/model_server/chat_endpoint.h"
#include "coordinator/llm/model_server/http_server.h"
#include "coordinator/llm/model_server/landscape/landscape_replies.h"

namespace ksearch {
namespace {

constexpr int kExitUsage = 2;
constexpr int kExitConfig = 3;
constexpr int kExitUnavailable = 5;

constexpr char kUsage[] =
    R"(usage: ksearch-model-server --cassette FILE | --landscape FILE [options]
Plays a cassette (format: proto/cassette.proto), or simulates a model on a landscape of programs
(format: proto/landscape.proto), as an OpenAI-compatible server on 127.0.0.1.
  --cassette FILE       textproto file of replies
  --landscape FILE      textproto file of a landscape
  --port N              port to listen on; default 0 picks a free one
  --port-file FILE      write the port here once listening
  --delay-ms N          delay before every reply; default: as the file says
  --record-misses FILE  append requests that have no entry here, as entries to fill in
  --check               only validate the file and print a summary of it
  --help                this text
)";

struct Flags {
  std::string cassette;
  std::string landscape;
  uint16_t port = 0;
  std::string port_file;
  std::optional<int> delay_ms;
  std::string record_misses;
  bool check = false;
};

void ListEntries(const Cassette& cassette) {
  for (const Cassette::Entry& entry : cassette.entries()) {
    std::cout << "line " << entry.line << ": " << entry.key.ToString() << ": " << entry.text.size()
              << " bytes, " << entry.finish_reason;
    if (entry.fault) {
      std::cout << ", HTTP " << entry.fault->http_status();
      if (entry.fault->times() == 0) {
        std::cout << " always";
      } else {
        std::cout << " first " << entry.fault->times() << " times";
      }
    }
    std::cout << "\n";
  }
  std::cout << cassette.entries().size() << " entries, no faults" << std::endl;
}

void Describe(const Landscape& landscape) {
  double points = 1;
  for (int i = 0; i < landscape.parameters(); ++i) points *= landscape.values(i);
  std::cout << "task " << landscape.spec().task() << ": " << landscape.parameters()
            << " parameters, " << points << " programs";
  if (const auto least = landscape.LeastCost(); least.has_value()) {
    std::cout << ", the best " << 1 / *least << " times as fast as the first";
  }
  std::cout << "\nno faults" << std::endl;
}

// The source of replies; null: the file was only to be checked.
absl::StatusOr<std::unique_ptr<ReplySource>> OpenCassette(const Flags& flags) {
  absl::StatusOr<Cassette> cassette = Cassette::Load(flags.cassette);
  if (!cassette.ok()) return cassette.status();
  if (flags.check) {
    ListEntries(*cassette);
    return nullptr;
  }
  ChatEndpointOptions options;
  if (flags.delay_ms) options.delay = absl::Milliseconds(*flags.delay_ms);
  options.record_misses_path = flags.record_misses;
  return std::make_unique<CassetteReplies>(*std::move(cassette), std::move(options));
}

absl::StatusOr<std::unique_ptr<ReplySource>> OpenLandscape(const Flags& flags) {
  absl::StatusOr<Landscape> landscape = Landscape::Load(flags.landscape);
  if (!landscape.ok()) return landscape.status();
  if (flags.check) {
    Describe(*landscape);
    return nullptr;
  }
  std::optional<absl::Duration> delay;
  if (flags.delay_ms) delay = absl::Milliseconds(*flags.delay_ms);
  return std::make_unique<LandscapeReplies>(*std::move(landscape), delay);
}

int Run(const Flags& flags) {
  SetLogName("ksearch-model-server");
  ShutdownSignals signals;
  absl::StatusOr<std::unique_ptr<ReplySource>> source =
      flags.landscape.empty() ? OpenCassette(flags) : OpenLandscape(flags);
  if (!source.ok()) {
    std::cerr << source.status().message() << std::endl;
    return kExitConfig;
  }
  if (*source == nullptr) return 0;  // the file was only checked
  ChatEndpoint endpoint(*std::move(source));
  auto server = HttpServer::Start(
      flags.port, [&endpoint](const EndpointRequest& request) { return endpoint.Answer(request); });
  if (!server.ok()) {
    std::cerr << "ksearch-model-server: " << server.status().message()
              << " (--port 0 takes any free port)" << std::endl;
    return kExitUnavailable;
  }
  const std::string port = absl::StrCat((*server)->port());
  if (!flags.port_file.empty()) {
    const absl::Status written = WriteFileAtomically(flags.port_file, absl::StrCat(port, "\n"));
    if (!written.ok()) {
      std::cerr << "--port-file: " << written.message() << std::endl;
      return kExitConfig;
    }
  }
  std::cout << "listening on 127.0.0.1:" << port << std::endl;

  Mutex mu;
  CondVar changed;
  bool stop = false;
  signals.Listen([&] {
    MutexLock lock(&mu);
    stop = true;
    changed.NotifyAll();
  });
  MutexLock lock(&mu);
  while (!stop) changed.Wait(&mu);
  return 0;
}

// A number from 0 to `max`; prints an error to stderr if `text` is not one.
std::optional<int> Number(const char* flag, const char* text, int max) {
  int number = 0;
  if (absl::SimpleAtoi(text, &number) && number >= 0 && number <= max) return number;
  std::cerr << flag << ": \"" << text << "\" is not a number from 0 to " << max << std::endl;
  return std::nullopt;
}

// Fills in `flags`; returns an exit code if there is nothing to run.
std::optional<int> ParseFlags(int argc, char** argv, Flags* flags) {
  enum Option {
    kCassette = 256,
    kLandscape,
    kPort,
    kPortFile,
    kDelayMs,
    kRecordMisses,
    kCheck,
    kHelp
  };
  static constexpr option kOptions[] = {
      {"cassette", required_argument, nullptr, kCassette},
      {"landscape", required_argument, nullptr, kLandscape},
      {"port", required_argument, nullptr, kPort},
      {"port-file", required_argument, nullptr, kPortFile},
      {"delay-ms", required_argument, nullptr, kDelayMs},
      {"record-misses", required_argument, nullptr, kRecordMisses},
      {"check", no_argument, nullptr, kCheck},
      {"help", no_argument, nullptr, kHelp},
      {nullptr, 0, nullptr, 0},
  };
  constexpr int kDayMs = 24 * 3600 * 1000;
  for (int code; (code = getopt_long(argc, argv, "", kOptions, nullptr)) != -1;) {
    switch (code) {
      case kCassette:
        flags->cassette = optarg;
        break;
      case kLandscape:
        flags->landscape = optarg;
        break;
      case kPort: {
        const std::optional<int> port = Number("--port", optarg, 65535);
        if (!port) return kExitUsage;
        flags->port = static_cast<uint16_t>(*port);
        break;
      }
      case kPortFile:
        flags->port_file = optarg;
        break;
      case kDelayMs:
        flags->delay_ms = Number("--delay-ms", optarg, kDayMs);
        if (!flags->delay_ms) return kExitUsage;
        break;
      case kRecordMisses:
        flags->record_misses = optarg;
        break;
      case kCheck:
        flags->check = true;
        break;
      case kHelp:
        std::cout << kUsage;
        return 0;
      default:  // getopt_long has printed the error
        return kExitUsage;
    }
  }
  if (optind < argc) {
    std::cerr << "unexpected argument \"" << argv[optind] << "\"\n" << kUsage;
    return kExitUsage;
  }
  if (flags->cassette.empty() == flags->landscape.empty()) {
    std::cerr << (flags->cassette.empty() ? "--cassette or --landscape is missing\n"
                                          : "--cassette and --landscape exclude each other\n")
              << kUsage;
    return kExitUsage;
  }
  if (!flags->landscape.empty() && !flags->record_misses.empty()) {
    std::cerr << "--record-misses is for cassettes: a landscape answers everything\n";
    return kExitUsage;
  }
  return std::nullopt;
}

}  // namespace
}  // namespace ksearch

int main(int argc, char** argv) {
  ksearch::Flags flags;
  if (const auto exit_code = ksearch::ParseFlags(argc, argv, &flags)) return *exit_code;
  return ksearch::Run(flags);
}
