// The binary as users start it.

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/mutex.h"
#include "common/subprocess.h"
#include "common/textproto.h"
#include "common/unique_fd.h"
#include "coordinator/llm/client_factory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;

SubprocessOptions Command(std::vector<std::string> arguments) {
  SubprocessOptions options;
  options.argv = {std::string(std::getenv("KSEARCH_BIN_DIR")) + "/ksearch-model-server"};
  for (std::string& argument : arguments) options.argv.push_back(std::move(argument));
  return options;
}

std::string ExampleCassette() {
  return std::string(std::getenv("KSEARCH_SOURCE_DIR")) +
         "/tests/coordinator/llm/testdata/example/cassette.textproto";
}

TEST(ModelServerTest, CheckListsTheEntries) {
  const auto output =
      RunCommand(Command({"--cassette", ExampleCassette(), "--check"}), absl::Seconds(20));
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_EQ(output->exit.code, 0);
  EXPECT_THAT(output->out, HasSubstr("purpose \"debug\" node \"vectorize\" attempt 2"));
  EXPECT_THAT(output->out, HasSubstr("8 entries, no faults"));
}

TEST(ModelServerTest, FaultyCassettesAndFlagsEndWithTheirCodes) {
  const std::string path = testing::TempDir() + "/faulty.textproto";
  ASSERT_TRUE(WriteFileAtomically(path, "\nentries { text: 'x' }\n").ok());
  auto output = RunCommand(Command({"--cassette", path}), absl::Seconds(20));
  ASSERT_TRUE(output.ok());
  EXPECT_EQ(output->exit.code, 3);
  EXPECT_THAT(output->err, HasSubstr(path + ":2: entry 1: purpose is missing"));
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--port", "0"},
                                             {"--cassette", path, "--landscape", path},
                                             {"--cassette", path, "--port", "70000"},
                                             {"--cassette", path, "--delay-ms", "soon"},
                                             {"--cassette", path, "--speed", "1"},
                                             {"--cassette", path, "stray"}}) {
    output = RunCommand(Command(arguments), absl::Seconds(20));
    ASSERT_TRUE(output.ok());
    EXPECT_EQ(output->exit.code, 2) << arguments.back();
    EXPECT_NE(output->err, "") << arguments.back();
  }
}

TEST(ModelServerTest, PlaysTheExample) {
  int pipe_fds[2];
  ASSERT_EQ(::pipe2(pipe_fds, O_CLOEXEC), 0);
  UniqueFd reader(pipe_fds[0]), writer(pipe_fds[1]);
  const std::string port_file = testing::TempDir() + "/port";
  SubprocessOptions options =
      Command({"--cassette", ExampleCassette(), "--port", "0", "--port-file", port_file});
  options.inherited_fds = {{writer.get(), 1}};
  auto server = Subprocess::Start(options);
  ASSERT_TRUE(server.ok()) << server.status();
  writer.Reset();
  std::string line;
  for (char c = 0; ::read(reader.get(), &c, 1) == 1 && c != '\n';) line += c;
  ASSERT_TRUE(absl::StartsWith(line, "listening on 127.0.0.1:")) << line;
  const std::string port = line.substr(line.rfind(':') + 1);
  EXPECT_EQ(ReadFile(port_file, 100).value(), port + "\n");

  v1::ModelProvider provider;
  provider.set_name("scripted");
  provider.mutable_openai_chat()->set_base_url(absl::StrCat("http://127.0.0.1:", port, "/v1"));
  provider.mutable_openai_chat()->set_label_headers(true);
  auto client = MakeLlmClient(provider, Clock::Real(), 1);
  ASSERT_TRUE(client.ok()) << client.status();
  Mutex mu;
  CondVar changed;
  auto ask = [&](LlmLabels labels) {
    bool done = false;
    absl::StatusOr<LlmReply> result = absl::UnknownError("none");
    LlmRequest request;
    request.model = "any";
    request.labels = std::move(labels);
    (*client)->Complete(request, [&](absl::StatusOr<LlmReply> reply) {
      MutexLock lock(&mu);
      result = std::move(reply);
      done = true;
      changed.NotifyAll();
    });
    MutexLock lock(&mu);
    while (!done) changed.Wait(&mu);
    return result;
  };
  const auto action = ask({.purpose = "action", .node_id = "vectorize"});
  ASSERT_TRUE(action.ok()) << action.status();
  EXPECT_THAT(action->text, HasSubstr("<file path=\"kernel.cpp\">"));
  EXPECT_EQ(action->usage.input(), 900);
  EXPECT_EQ(action->model, "scripted-example");
  const auto propose = ask({.purpose = "propose", .node_id = ""});  // 429 first
  ASSERT_TRUE(propose.ok()) << propose.status();
  const auto miss = ask({.purpose = "debug", .node_id = "plain", .attempt = 2});
  EXPECT_EQ(miss.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(miss.status().message()),
              HasSubstr("no entry for purpose \"debug\" node \"plain\" attempt 2"));

  ASSERT_EQ(::kill((*server)->pid(), SIGTERM), 0);
  const auto exit = (*server)->Wait(Clock::Real().SteadyNow() + absl::Seconds(20));
  ASSERT_TRUE(exit.has_value());
  EXPECT_FALSE(exit->signaled);
  EXPECT_EQ(exit->code, 0);
}

}  // namespace
}  // namespace ksearch
