// Memory and threads of model calls that wait for their first byte.
//   ksearch_llm_calls_bench [CALLS]
// The server is another process, so that only the client's memory is counted.

#include <arpa/inet.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/mutex.h"
#include "common/textproto.h"
#include "coordinator/llm/client_factory.h"

namespace ksearch {
namespace {

constexpr char kReply[] =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 68\r\n\r\n"
    R"({"choices":[{"finish_reason":"stop","message":{"content":"hello"}}]})";

// Takes `calls` connections, says how many have asked on `progress`, and answers all when told to.
[[noreturn]] void Serve(int listener, int calls, int progress, int go) {
  std::vector<int> connections;
  for (int i = 0; i < calls; ++i) {
    const int fd = ::accept(listener, nullptr, nullptr);
    char request[65536];
    if (::recv(fd, request, sizeof(request), 0) <= 0) std::abort();
    connections.push_back(fd);
  }
  char byte = 1;
  if (::write(progress, &byte, 1) != 1 || ::read(go, &byte, 1) != 1) std::abort();
  for (const int fd : connections) (void)::send(fd, kReply, sizeof(kReply) - 1, MSG_NOSIGNAL);
  ::pause();
  std::abort();
}

int64_t ResidentBytes() {
  std::ifstream in("/proc/self/statm");
  int64_t total = 0;
  int64_t resident = 0;
  in >> total >> resident;
  return resident * ::getpagesize();
}

int64_t Threads() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       std::filesystem::directory_iterator());
}

int Main(int calls) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  CHECK(::bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0);
  CHECK(::listen(listener, 1024) == 0);
  CHECK(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  int progress[2];
  int go[2];
  CHECK(::pipe(progress) == 0 && ::pipe(go) == 0);
  const pid_t server = ::fork();
  if (server == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    Serve(listener, calls + 1, progress[1], go[0]);
  }

  v1::ModelProvider provider;
  CHECK_OK(ParseTextproto(
      absl::StrCat("name: \"p\" openai_chat { base_url: \"http://127.0.0.1:",
                   ntohs(address.sin_port), "/v1\" default_model: \"m\" } flow { ",
                   "initial_concurrency: ", calls + 1, " max_concurrency: ", calls + 1, " }"),
      "bench", &provider));
  const std::unique_ptr<LlmClient> client = MakeLlmClient(provider, Clock::Real(), 1).value();
  Mutex mu;
  CondVar changed;
  int answered = 0;
  int ok = 0;
  const auto ask = [&] {
    LlmRequest request;
    request.user = "a short prompt: bodies are not what is measured";
    client->Complete(std::move(request), [&](absl::StatusOr<LlmReply> reply) {
      MutexLock lock(&mu);
      ++answered;
      if (reply.ok()) ++ok;
      changed.NotifyAll();
    });
  };
  ask();  // what is set up once
  ::usleep(200'000);
  const int64_t before = ResidentBytes();
  const int64_t threads_before = Threads();
  for (int i = 0; i < calls; ++i) ask();
  char byte = 0;
  CHECK(::read(progress[0], &byte, 1) == 1);
  const int64_t after = ResidentBytes();
  const int64_t threads = Threads() - threads_before;
  CHECK(::write(go[1], &byte, 1) == 1);
  {
    MutexLock lock(&mu);
    while (answered < calls + 1) changed.Wait(&mu);
  }
  std::printf("calls waiting: %d  memory per call: %.1f KiB  threads added: %lld  answered: %d\n",
              calls, static_cast<double>(after - before) / calls / 1024.0,
              static_cast<long long>(threads), ok);
  ::kill(server, SIGKILL);
  return ok == calls + 1 ? 0 : 1;
}

}  // namespace
}  // namespace ksearch

int main(int argc, char** argv) {
  return ksearch::Main(argc > 1 ? std::max(1, std::atoi(argv[1])) : 200);
}
