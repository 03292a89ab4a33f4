// ksearch-model-server: plays a cassette as an OpenAI-compatible server on a loopback port, so that
// searches run without a model: in tests, demonstrations and when trying a configuration.

#include <csignal>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/mutex.h"
#include "common/shutdown.h"
#include "common/textproto.h"
#include "coordinator/llm/model_server/cassette.h"
#include "coordinator/llm/model_server/chat_endpoint.h"
#include "coordinator/llm/model_server/http_server.h"

namespace ksearch {
namespace {

constexpr int kExitConfig = 3;
constexpr int kExitUnavailable = 5;

struct Flags {
  std::string cassette;
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

int Run(const Flags& flags) {
  SetLogName("ksearch-model-server");
  ShutdownSignals signals;
  absl::StatusOr<Cassette> cassette = Cassette::Load(flags.cassette);
  if (!cassette.ok()) {
    std::cerr << cassette.status().message() << std::endl;
    return kExitConfig;
  }
  if (flags.check) {
    ListEntries(*cassette);
    return 0;
  }

  ChatEndpointOptions options;
  if (flags.delay_ms) options.delay = absl::Milliseconds(*flags.delay_ms);
  options.record_misses_path = flags.record_misses;
  ChatEndpoint endpoint(*std::move(cassette), options);
  auto server = HttpServer::Start(
      flags.port, [&endpoint](const EndpointRequest& request) { return endpoint.Answer(request); });
  if (!server.ok()) {
    std::cerr << server.status().message() << std::endl;
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

}  // namespace
}  // namespace ksearch

int main(int argc, char** argv) {
  CLI::App app(
      "Plays a cassette (proto/cassette.proto) as an OpenAI-compatible server on 127.0.0.1.");
  ksearch::Flags flags;
  app.add_option("--cassette", flags.cassette, "textproto file of replies")->required();
  app.add_option("--port", flags.port, "port to listen on; 0 picks a free one")
      ->capture_default_str();
  app.add_option("--port-file", flags.port_file, "write the port here when listening");
  app.add_option("--delay-ms", flags.delay_ms, "thinking time of every reply; default: cassette's")
      ->check(CLI::Range(0, 24 * 3600 * 1000));
  app.add_option("--record-misses", flags.record_misses,
                 "append requests that have no entry to this file, as entries to fill in");
  app.add_flag("--check", flags.check, "only validate the cassette and list its entries");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return ksearch::Run(flags);
}
