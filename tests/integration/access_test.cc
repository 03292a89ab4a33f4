// Who may call the real coordinator, with every kind of credentials on every RPC.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/access/access_token.h"
#include "common/access/token_file.h"
#include "common/grpc_channel.h"
#include "common/textproto.h"
#include "common/unique_fd.h"
#include "proto/config.pb.h"
#include "proto/search_service.pb.h"
#include "proto/worker_service.pb.h"
#include "tests/fakes/eventually.h"
#include "tests/integration/local_cluster.h"
#include "tests/integration/played_worker.h"

namespace ksearch {
namespace {

using testing::HasSubstr;
using Code = grpc::StatusCode;

struct Rpc {
  std::string path;
  v1::Role needs;
};

// From the service descriptors, so that every added RPC is tested, too.
std::vector<Rpc> EveryRpc() {
  std::vector<Rpc> rpcs;
  for (const auto* file :
       {v1::ListRunsRequest::descriptor()->file(), v1::WorkerHello::descriptor()->file()}) {
    for (int i = 0; i < file->service_count(); ++i) {
      for (int j = 0; j < file->service(i)->method_count(); ++j) {
        const auto* method = file->service(i)->method(j);
        rpcs.push_back({absl::StrCat("/", file->service(i)->full_name(), "/", method->name()),
                        method->options().GetExtension(v1::needs)});
      }
    }
  }
  return rpcs;
}

// One message up, whatever comes down, and how it ended, at the latest after `time`.
grpc::Status Call(const std::shared_ptr<grpc::Channel>& channel, const std::string& path,
                  const std::string& message = "",
                  const std::multimap<std::string, std::string>& headers = {},
                  absl::Duration time = absl::Seconds(30)) {
  grpc::GenericStub stub(channel);
  grpc::CompletionQueue queue;
  const auto context = ContextWithDeadline(time);
  for (const auto& [name, value] : headers) context->AddMetadata(name, value);
  const auto stream = stub.PrepareCall(context.get(), path, &queue);
  const auto next = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  stream->StartCall(nullptr);
  next();
  const grpc::Slice slice(message);
  stream->WriteLast(grpc::ByteBuffer(&slice, 1), grpc::WriteOptions(), nullptr);
  next();
  grpc::ByteBuffer reply;
  do {
    stream->Read(&reply, nullptr);
  } while (next());
  grpc::Status status;
  stream->Finish(&status, nullptr);
  next();
  queue.Shutdown();
  while (next()) {
  }
  return status;
}

class AccessTest : public testing::Test {
 protected:
  AccessTest() {
    std::filesystem::create_directory(cluster_.folder() + "/state");
    for (const v1::Role role :
         {v1::ROLE_READ, v1::ROLE_SUBMIT, v1::ROLE_ADMIN, v1::ROLE_WORKER, v1::ROLE_JOIN}) {
      tokens_[role] = Make(role, absl::Now() + absl::Hours(1));
    }
    cluster_.SetCliArgs({"--token-file", TokenFile(v1::ROLE_ADMIN)});
  }

  NewToken Make(v1::Role role, absl::Time expires, bool revoked = false) {
    NewToken made = MakeAccessToken(role, "", absl::Now(), expires);
    if (revoked) *made.record.mutable_revoked_at() = ToProto(absl::Now());
    EXPECT_TRUE(UpdateTokenFile(Db(), [&](v1::AccessTokens* list) {
                  *list->add_tokens() = made.record;
                  return absl::OkStatus();
                }).ok());
    return made;
  }
  std::string Db() const { return cluster_.folder() + "/state/tokens.textproto"; }
  std::string TokenFile(v1::Role role) {
    const std::string path =
        absl::StrCat(cluster_.folder(), "/", std::string(RoleName(role)), ".token");
    std::ofstream(path) << tokens_[role].token << "\n";
    return path;
  }
  std::shared_ptr<grpc::Channel> Channel(const std::string& token) {
    ClientAccess access;
    access.token = token;
    return MakeChannel(cluster_.address(), access);
  }
  int PortOfCoordinator() {
    int port = 0;
    EXPECT_TRUE(
        absl::SimpleAtoi(cluster_.address().substr(cluster_.address().rfind(':') + 1), &port));
    return port;
  }

  LocalCluster cluster_;
  std::map<v1::Role, NewToken> tokens_;
};

TEST_F(AccessTest, EveryRpcAsksForGoodCredentialsOfTheRightRole) {
  const NewToken expired = Make(v1::ROLE_ADMIN, absl::Now() - absl::Seconds(1));
  const NewToken revoked = Make(v1::ROLE_ADMIN, absl::InfiniteFuture(), /*revoked=*/true);
  const NewToken unknown = MakeAccessToken(v1::ROLE_ADMIN, "", absl::Now(), absl::InfiniteFuture());
  std::string wrong = tokens_[v1::ROLE_ADMIN].token;
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  cluster_.StartCoordinator();

  const std::vector<Rpc> rpcs = EveryRpc();
  ASSERT_GE(rpcs.size(), 18u);
  int calls = 0;
  for (const Rpc& rpc : rpcs) {
    SCOPED_TRACE(rpc.path);
    EXPECT_NE(rpc.needs, v1::ROLE_UNSPECIFIED) << "add `option (needs) = ROLE_...` to its rpc";
    for (const std::string& token :
         {std::string(), wrong, unknown.token, expired.token, revoked.token}) {
      EXPECT_EQ(Call(Channel(token), rpc.path).error_code(), Code::UNAUTHENTICATED) << token;
      ++calls;
    }
    for (const auto& [role, token] : tokens_) {
      // Those that watch something last as long as they may.
      const bool covers = RoleCovers(role, rpc.needs);
      const grpc::Status status = Call(Channel(token.token), rpc.path, "", {},
                                       covers ? absl::Seconds(3) : absl::Seconds(30));
      const bool let_in = status.error_code() != Code::UNAUTHENTICATED &&
                          status.error_code() != Code::PERMISSION_DENIED;
      if (covers) {
        EXPECT_TRUE(let_in) << RoleName(role) << ": " << status.error_message();
      } else {
        EXPECT_EQ(status.error_code(), Code::PERMISSION_DENIED) << RoleName(role);
      }
      ++calls;
    }
    // Two tokens in one call: none counts.
    EXPECT_EQ(Call(Channel(tokens_[v1::ROLE_ADMIN].token), rpc.path, "",
                   {{"authorization", "Bearer " + tokens_[v1::ROLE_WORKER].token}})
                  .error_code(),
              Code::UNAUTHENTICATED);
  }
  std::printf("%zu rpcs, %d calls with good and bad credentials, all answered as they should\n",
              rpcs.size(), calls);
}

TEST_F(AccessTest, OversizedAndMalformedMessagesAreAnsweredAndServiceGoesOn) {
  cluster_.StartCoordinator();
  const std::string huge(kMaxMessageBytes + (1 << 20), 'x');
  const std::string garbage = "\x0a\xff\xff\xff\xff\x0f tail";
  for (const Rpc& rpc : EveryRpc()) {
    SCOPED_TRACE(rpc.path);
    const v1::Role role = rpc.needs == v1::ROLE_WORKER ? v1::ROLE_WORKER : v1::ROLE_ADMIN;
    const auto channel = Channel(tokens_[role].token);
    EXPECT_FALSE(Call(channel, rpc.path, garbage).ok());
    EXPECT_FALSE(Call(Channel(""), rpc.path, garbage).ok());
  }
  for (const char* path :
       {"/ksearch.v1.SearchService/StartRun", "/ksearch.v1.SearchService/GetRun"}) {
    grpc::ChannelArguments unlimited;
    unlimited.SetMaxSendMessageSize(-1);
    const auto channel = grpc::CreateCustomChannel(cluster_.address(),
                                                   grpc::InsecureChannelCredentials(), unlimited);
    EXPECT_FALSE(Call(channel, path, huge).ok());
    EXPECT_EQ(
        Call(channel, path, huge, {{"authorization", "Bearer " + tokens_[v1::ROLE_ADMIN].token}})
            .error_code(),
        Code::RESOURCE_EXHAUSTED);
  }
  EXPECT_FALSE(Call(Channel(std::string(100'000, 'a')), "/ksearch.v1.SearchService/ListRuns").ok());
  EXPECT_EQ(cluster_.Cli({"status"}).exit.code, 0);
}

TEST_F(AccessTest, RevokedWorkerIsPutOutAndCommandsSayWhatIsWrong) {
  cluster_.StartCoordinator();
  cluster_.StartWorker("w1", {"--token-file", TokenFile(v1::ROLE_WORKER)});
  const CommandOutput revoked =
      RunProgram({cluster_.BinaryPath("ksearch"), "token", "--token-db", Db(), "revoke",
                  tokens_[v1::ROLE_WORKER].record.token_id()});
  ASSERT_EQ(revoked.exit.code, 0) << revoked.err;
  EXPECT_TRUE(Eventually([&] { return !cluster_.Running("w1"); }, absl::Seconds(15)));
  EXPECT_THAT(cluster_.Log("w1"), HasSubstr("no longer good"));
  // No secret is in any log.
  for (const char* name : {"w1", "coordinator"}) {
    for (const auto& [role, token] : tokens_) {
      EXPECT_THAT(cluster_.Log(name), testing::Not(HasSubstr(token.token.substr(24))));
    }
  }
  cluster_.SetCliArgs({});
  const CommandOutput none = cluster_.Cli({"status"});
  EXPECT_EQ(none.exit.code, 4);
  EXPECT_THAT(none.err, HasSubstr("--token-file"));
  cluster_.SetCliArgs({"--token-file", TokenFile(v1::ROLE_READ)});
  EXPECT_EQ(cluster_.Cli({"status"}).exit.code, 0);
  EXPECT_EQ(cluster_.Cli({"workers", "--drain", "w1"}).exit.code, 4);
}

TEST_F(AccessTest, MutualTlsNamesWorkersByTheirCertificates) {
  const std::string pki = cluster_.folder() + "/pki";
  const auto run = [&](std::vector<std::string> args) {
    std::vector<std::string> argv = {cluster_.BinaryPath("ksearch"), "pki"};
    argv.insert(argv.end(), args.begin(), args.end());
    const CommandOutput output = RunProgram(argv);
    EXPECT_EQ(output.exit.code, 0) << output.err;
  };
  run({"--ca-dir", pki, "init"});
  run({"--ca-dir", pki, "issue", "--server", "127.0.0.1", "localhost"});
  run({"--ca-dir", pki, "issue", "--worker", "node7"});
  EXPECT_EQ(std::filesystem::status(pki + "/ca.key").permissions(), std::filesystem::perms(0600));
  cluster_.SetCliArgs({"--token-file", TokenFile(v1::ROLE_ADMIN), "--ca-file", pki + "/ca.pem"});
  cluster_.StartCoordinator(
      absl::StrCat("tls { certificate_file: \"", pki, "/coordinator.pem\" key_file: \"", pki,
                   "/coordinator.key\" client_ca_file: \"", pki, "/ca.pem\" }"));
  const auto session = [&](const ClientAccess& access) {
    return Call(MakeChannel(cluster_.address(), access), "/ksearch.v1.WorkerService/Session")
        .error_code();
  };
  ClientAccess access;
  access.ca = *ReadFile(pki + "/ca.pem", 1 << 20);
  access.token = tokens_[v1::ROLE_WORKER].token;
  EXPECT_EQ(session(access), Code::UNAUTHENTICATED) << "a token without a certificate";
  access.certificate = *ReadFile(pki + "/coordinator.pem", 1 << 20);
  access.key = *ReadFile(pki + "/coordinator.key", 1 << 20);
  EXPECT_EQ(session(access), Code::UNAVAILABLE) << "a server's certificate: no connection";
  access.certificate = *ReadFile(pki + "/worker-node7.pem", 1 << 20);
  access.key = *ReadFile(pki + "/worker-node7.key", 1 << 20);
  access.token.clear();
  EXPECT_EQ(session(access), Code::UNAUTHENTICATED) << "a certificate without a token";
  access.token = tokens_[v1::ROLE_WORKER].token;
  EXPECT_EQ(session(access), Code::INVALID_ARGUMENT) << "let in; there was no hello";
  run({"--ca-dir", pki + "-other", "init"});
  run({"--ca-dir", pki + "-other", "issue", "--worker", "node7"});
  access.certificate = *ReadFile(pki + "-other/worker-node7.pem", 1 << 20);
  access.key = *ReadFile(pki + "-other/worker-node7.key", 1 << 20);
  EXPECT_EQ(session(access), Code::UNAVAILABLE) << "of another authority";

  // A real worker, whose own name does not count.
  const std::string config = cluster_.folder() + "/worker.textproto";
  std::ofstream(config) << "token_file: \"" << TokenFile(v1::ROLE_WORKER) << "\" tls { ca_file: \""
                        << pki << "/ca.pem\" certificate_file: \"" << pki
                        << "/worker-node7.pem\" key_file: \"" << pki << "/worker-node7.key\" }\n";
  cluster_.StartWorker("node7", {"--config", config, "--name", "impostor"});
  EXPECT_THAT(cluster_.Cli({"workers"}).out, testing::Not(HasSubstr("impostor")));

  // The coordinator's certificate is replaced while it runs.
  const std::vector<std::string> renamed = {"--token-file",  TokenFile(v1::ROLE_ADMIN),
                                            "--ca-file",     pki + "/ca.pem",
                                            "--server-name", "renamed.example"};
  cluster_.SetCliArgs(renamed);
  const CommandOutput mistrusted = cluster_.Cli({"status"});
  EXPECT_EQ(mistrusted.exit.code, 5);
  EXPECT_THAT(mistrusted.err, HasSubstr("--server-name"));
  cluster_.SetCliArgs({});
  const CommandOutput plain = cluster_.Cli({"status"});
  EXPECT_EQ(plain.exit.code, 5);
  EXPECT_THAT(plain.err, HasSubstr("--ca-file"));
  cluster_.SetCliArgs(renamed);
  run({"--ca-dir", pki, "issue", "--out", pki + "/new", "--server", "127.0.0.1",
       "renamed.example"});
  for (const char* name : {"/coordinator.key", "/coordinator.pem"}) {
    std::filesystem::rename(pki + "/new" + name, pki + name);
  }
  EXPECT_TRUE(Eventually([&] { return cluster_.Cli({"status"}).exit.code == 0; }));
  EXPECT_TRUE(cluster_.Running("node7"));
}

TEST_F(AccessTest, OtherThanLoopbackNeedsTlsAndTokens) {
  const auto start = [&](const std::string& state, const std::string& listen) {
    return RunProgram({cluster_.BinaryPath("ksearch-coordinator"), "--listen", listen,
                       "--state-dir", state, "--task-dir",
                       LocalCluster::SourcePath("configs/tasks")});
  };
  const std::string with_tokens = cluster_.folder() + "/state";
  for (const char* listen : {"0.0.0.0:0", "[::]:0", "10.1.2.3:7400", "example.com:7400"}) {
    const CommandOutput neither = start(cluster_.folder() + "/fresh", listen);
    EXPECT_EQ(neither.exit.code, 3) << listen;
    EXPECT_THAT(neither.err, testing::AllOf(HasSubstr("pki issue"), HasSubstr("token create")));
    const CommandOutput tokens_only = start(with_tokens, listen);
    EXPECT_EQ(tokens_only.exit.code, 3) << listen;
    EXPECT_THAT(tokens_only.err,
                testing::AllOf(HasSubstr("certificate"), testing::Not(HasSubstr("token create"))));
  }
  EXPECT_FALSE(std::filesystem::exists(cluster_.folder() + "/fresh")) << "nothing was touched";
  // The examples that the README starts with have what is needed.
  v1::CoordinatorConfig coordinator;
  v1::WorkerConfig worker;
  const auto example = [](const char* side) {
    return LocalCluster::SourcePath(absl::StrCat("configs/", side, "_network.textproto"));
  };
  ASSERT_TRUE(ReadTextproto(example("coordinator"), &coordinator).ok());
  ASSERT_TRUE(ReadTextproto(example("worker"), &worker).ok());
  EXPECT_EQ(coordinator.tls().key_file(), "ksearch-pki/coordinator.key");
  EXPECT_EQ(worker.tls().ca_file(), "ca.pem");
  // Tokens may be made before the coordinator's first start.
  const std::string db = cluster_.folder() + "/later/tokens.textproto";
  const std::string out = cluster_.folder() + "/made.token";
  const std::vector<std::string> create = {cluster_.BinaryPath("ksearch"),
                                           "token",
                                           "--token-db",
                                           db,
                                           "create",
                                           "--role",
                                           "worker",
                                           "--out",
                                           out};
  EXPECT_EQ(RunProgram(create).exit.code, 0);
  EXPECT_THAT(RunProgram(create).err, HasSubstr(out + " exists"));
  EXPECT_EQ(ReadTokenFile(db)->tokens_size(), 1);
}

int64_t CountFds(int pid) {
  int64_t count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(absl::StrCat("/proc/", pid, "/fd"))) {
    count += entry.path().empty() ? 0 : 1;
  }
  return count;
}

int64_t ResidentKib(int pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/status"));
  std::string word;
  while (file >> word) {
    int64_t kib = 0;
    if (word == "VmRSS:" && file >> kib) return kib;
  }
  return -1;
}

TEST_F(AccessTest, WorkerTouchesItsOwnLeasesOnlyInLaterLivesOfTheCoordinatorToo) {
  using absl::StatusCode;
  const std::string other = Make(v1::ROLE_WORKER, absl::Now() + absl::Hours(1)).token;
  const std::string& own = tokens_[v1::ROLE_WORKER].token;
  cluster_.StartCoordinator();
  const std::string source = cluster_.folder() + "/k.cpp";
  std::ofstream(source) << "int x;\n";
  std::thread asker([&] {
    cluster_.Cli({"eval", "--task", "softmax_rows_f32", "--build-only", source});
  });
  v1::JobOffer offer;
  {
    PlayedWorker owner(Channel(own), "w-owner");
    const auto offered = owner.Join(1);
    EXPECT_TRUE(offered.ok()) << offered.status();
    offer = offered.value_or(v1::JobOffer());
    PlayedWorker thief(Channel(other), "w-thief");
    EXPECT_TRUE(thief.Join(0).ok());
    EXPECT_EQ(PlayedWorker(Channel(other), "w-owner").Join(1).status().code(),
              StatusCode::kPermissionDenied);
    EXPECT_EQ(thief.Fetch(offer), StatusCode::kPermissionDenied);
    EXPECT_EQ(thief.Record(offer, "w-thief"), StatusCode::kInvalidArgument);
    EXPECT_EQ(thief.Record(offer, "w-owner"), StatusCode::kPermissionDenied);
    EXPECT_EQ(owner.Fetch(offer), StatusCode::kOk);
  }
  cluster_.Kill("coordinator");
  asker.join();
  cluster_.StartCoordinator();
  PlayedWorker thief(Channel(other), "w-thief");
  EXPECT_TRUE(thief.Join(0).ok());
  EXPECT_EQ(PlayedWorker(Channel(other), "w-owner").Join(1).status().code(),
            StatusCode::kPermissionDenied);
  EXPECT_EQ(thief.Fetch(offer), StatusCode::kPermissionDenied);
  EXPECT_EQ(thief.Record(offer, "w-thief"), StatusCode::kInvalidArgument);
  EXPECT_NE(thief.Record(offer, "w-owner"), StatusCode::kOk);
  PlayedWorker owner(Channel(own), "w-owner");
  EXPECT_TRUE(owner.Join(0).ok());
  EXPECT_EQ(owner.Record(offer, "w-owner"), StatusCode::kOk);
}

// Strangers hold every connection they can get, half of them speaking HTTP/2 without a token.
//   KSEARCH_STRANGERS=10000    that many; else enough to fill the coordinator several times
TEST_F(AccessTest, StrangersNeitherFillNorBlockTheCoordinator) {
  int wanted_strangers = 1000;
  if (const char* wanted = ::getenv("KSEARCH_STRANGERS"); wanted != nullptr) {
    ASSERT_TRUE(absl::SimpleAtoi(wanted, &wanted_strangers) && wanted_strangers >= 10);
  }
  constexpr int kMaxConnections = 200;
  constexpr char kPreface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
  rlimit limit;
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  if (limit.rlim_max < static_cast<rlim_t>(wanted_strangers + 200)) {
    GTEST_SKIP() << "needs " << wanted_strangers + 200 << " open files, the hard limit is "
                 << limit.rlim_max;
  }
  limit.rlim_cur = std::max(limit.rlim_cur, static_cast<rlim_t>(wanted_strangers + 200));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  cluster_.StartCoordinator(absl::StrCat("max_connections: ", kMaxConnections));
  cluster_.StartWorker("w1", {"--token-file", TokenFile(v1::ROLE_WORKER)});
  const int pid = cluster_.Pid("coordinator");
  const int64_t fds_before = CountFds(pid);
  const int64_t kib_before = ResidentKib(pid);

  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(PortOfCoordinator()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::vector<UniqueFd> strangers;
  int64_t most_fds = 0, most_kib = 0;
  int served = 0;
  for (int i = 0; i < wanted_strangers; ++i) {
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) continue;
    if (i % 2 == 0) ::send(fd.get(), kPreface, sizeof kPreface - 1, MSG_NOSIGNAL);
    strangers.push_back(std::move(fd));
    if ((i + 1) % (wanted_strangers / 10) != 0) continue;
    most_fds = std::max(most_fds, CountFds(pid));
    most_kib = std::max(most_kib, ResidentKib(pid));
    served += cluster_.Cli({"status"}, absl::Seconds(30)).exit.code == 0;
  }
  std::printf(
      "%zu connections held; coordinator: fds %ld before, at most %ld; resident %ld KiB before, at "
      "most %ld KiB; %d of 10 commands served meanwhile\n",
      strangers.size(), fds_before, most_fds, kib_before, most_kib, served);
  EXPECT_GE(strangers.size(), static_cast<size_t>(wanted_strangers) * 99 / 100);
  // gRPC closes rejected connections a moment later.
  EXPECT_LE(most_fds, fds_before + kMaxConnections + 200);
#ifndef KSEARCH_SANITIZED  // sanitizers keep freed memory for a while
  EXPECT_LE(most_kib - kib_before, 128 * 1024);
#endif
  EXPECT_EQ(served, 10);
  EXPECT_TRUE(cluster_.Running("coordinator"));
  EXPECT_TRUE(cluster_.Running("w1"));
  EXPECT_EQ(cluster_.Log("w1").find("no session"), std::string::npos) << "its session went on";
  strangers.clear();
  EXPECT_EQ(cluster_.Cli({"status"}).exit.code, 0);
}

}  // namespace
}  // namespace ksearch
