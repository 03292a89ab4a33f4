// Hundreds of calls that wait for their first byte, on one I/O thread: the cost of each, over plain
// HTTP and over TLS. The server is another process, so that only the client's memory is counted.

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/mutex.h"
#include "common/textproto.h"
#include "coordinator/llm/client_factory.h"
#include "gtest/gtest.h"
#include "tests/fakes/fault_server.h"

namespace ksearch {
namespace {

constexpr int kCalls = 200;
#ifdef KSEARCH_SANITIZED
constexpr double kMaxKibPerCall = 10'000;  // with what a sanitizer keeps beside it
#else
constexpr double kMaxKibPerCall = 100;
#endif

int64_t ResidentBytes() {
  std::ifstream in("/proc/self/statm");
  int64_t total = 0, resident = 0;
  in >> total >> resident;
  return resident * ::getpagesize();
}

int Threads() {
  return static_cast<int>(std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                                        std::filesystem::directory_iterator()));
}

// A fault server in a separate process that answers the first request at once, and the next
// `kCalls` once all of them have arrived and it is told to.
class ServerProcess {
 public:
  explicit ServerProcess(FaultServer::Tls tls) {
    EXPECT_EQ(::pipe(said_), 0);
    EXPECT_EQ(::pipe(told_), 0);
    process_ = ::fork();
    if (process_ == 0) Serve(tls);
    // "<origin>\n<bytes of certificate>\n<certificate>"
    origin_ = ReadLine();
    certificate_.resize(std::stoul(ReadLine()));
    for (char& c : certificate_) c = ReadByte();
  }
  ~ServerProcess() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    for (const int fd : {said_[0], said_[1], told_[0], told_[1]}) ::close(fd);
  }

  const std::string& origin() const { return origin_; }
  const std::string& certificate() const { return certificate_; }
  void AwaitAllRequests() { EXPECT_EQ(ReadByte(), '!'); }
  void Answer() { EXPECT_EQ(::write(told_[1], "!", 1), 1); }

 private:
  [[noreturn]] void Serve(FaultServer::Tls tls) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::atomic<int> asked{0};
    Mutex mu;
    CondVar changed;
    bool go = false;
    FaultServer server(
        [&](const std::string&, int) {
          const int number = asked++;
          if (number == kCalls) Say("!");
          MutexLock lock(&mu);
          while (number > 0 && !go) changed.Wait(&mu);
          return Fault{.silence = {},
                       .bytes = HttpReply(200, R"({"choices":[{"finish_reason":"stop",)"
                                               R"("message":{"content":"hello"}}]})"),
                       .padding_bytes = 0,
                       .hold = false};
        },
        tls);
    Say(absl::StrCat(server.origin(), "\n", server.certificate().size(), "\n",
                     server.certificate()));
    char byte = 0;
    if (::read(told_[0], &byte, 1) != 1) std::abort();
    {
      MutexLock lock(&mu);
      go = true;
      changed.NotifyAll();
    }
    while (true) ::pause();
  }
  void Say(const std::string& text) {
    if (::write(said_[1], text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      std::abort();
    }
  }
  char ReadByte() {
    char byte = 0;
    EXPECT_EQ(::read(said_[0], &byte, 1), 1);
    return byte;
  }
  std::string ReadLine() {
    std::string line;
    for (char c = ReadByte(); c != '\n' && c != 0; c = ReadByte()) line += c;
    return line;
  }

  int said_[2];
  int told_[2];
  pid_t process_;
  std::string origin_;
  std::string certificate_;
};

class ManyCallsTest : public testing::TestWithParam<FaultServer::Tls> {
 protected:
  void Ask(LlmClient& client) {
    LlmRequest request;
    request.user = "a short prompt: bodies are not what is measured";
    client.Complete(std::move(request), [this](absl::StatusOr<LlmReply> reply) {
      EXPECT_TRUE(reply.ok()) << reply.status();
      MutexLock lock(&mu_);
      ++answered_;
      changed_.NotifyAll();
    });
  }
  void AwaitAnswers(int count) {
    MutexLock lock(&mu_);
    while (answered_ < count) changed_.Wait(&mu_);
  }

  Mutex mu_;
  CondVar changed_;
  int answered_ ABSL_GUARDED_BY(mu_) = 0;
};

TEST_P(ManyCallsTest, WaitOnOneThreadWithLittleMemory) {
  ServerProcess server(GetParam());
  std::string ca;
  if (GetParam() != FaultServer::Tls::kNone) {
    const std::string file = testing::TempDir() + "/many_calls_ca.pem";
    // As many certificates as a system trusts, which must not be kept for every call.
    std::ofstream(file) << server.certificate()
                        << ReadFile("/etc/ssl/certs/ca-certificates.crt", 1 << 20).value_or("");
    ca = absl::StrCat("ca_file: \"", file, "\" ");
  }
  v1::ModelProvider provider;
  const absl::Status parsed = ParseTextproto(
      absl::StrCat("name: \"p\" openai_chat { base_url: \"", server.origin(),
                   "/v1\" default_model: \"m\" ", ca, "connect_timeout { seconds: 60 } } flow { ",
                   "initial_concurrency: ", kCalls, " max_concurrency: ", kCalls, " }"),
      "test", &provider);
  ASSERT_TRUE(parsed.ok()) << parsed;
  const auto client = MakeLlmClient(provider, Clock::Real(), 1);
  ASSERT_TRUE(client.ok()) << client.status();
  Ask(**client);  // does the one-time setup
  AwaitAnswers(1);
  const int64_t before = ResidentBytes();
  const int threads = Threads();
  for (int i = 0; i < kCalls; ++i) Ask(**client);
  server.AwaitAllRequests();
  const double kib = static_cast<double>(ResidentBytes() - before) / kCalls / 1024;
  EXPECT_EQ(Threads(), threads);
  std::printf("%d calls wait: %.1f KiB each\n", kCalls, kib);
  EXPECT_LT(kib, kMaxKibPerCall);
  server.Answer();
  AwaitAnswers(1 + kCalls);
}

INSTANTIATE_TEST_SUITE_P(All, ManyCallsTest,
                         testing::Values(FaultServer::Tls::kNone, FaultServer::Tls::kSelfSigned),
                         [](const auto& tls) {
                           return tls.param == FaultServer::Tls::kNone ? "Plain" : "Tls";
                         });

}  // namespace
}  // namespace ksearch
