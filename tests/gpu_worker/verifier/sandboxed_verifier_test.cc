// The verifier program as a worker starts it: sandbox, filters and all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/message_frames.h"
#include "common/subprocess.h"
#include "common/unique_fd.h"
#include "tests/gpu_worker/sandbox/unprivileged_main.h"
#include "tests/gpu_worker/verifier/matmul_task.h"

namespace ksearch {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SandboxedVerifierTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // The folder where this account may read the candidates.
    ::setenv("KSEARCH_BIN_DIR", (ScratchFolder() + "/bin").c_str(), 1);
    StartFrom(ScratchFolder() + "/bin");
  }

  void StartFrom(const std::string& folder) {
    int pair[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    socket_.Reset(pair[0]);
    const UniqueFd theirs(pair[1]);
    SubprocessOptions options;
    options.argv = {folder + "/ksearch-verifier", "--socket-fd=3"};
    options.environment["PATH"] = "/usr/bin:/bin";
    options.inherited_fds = {{theirs.get(), 3}, {2, 2}};
    absl::StatusOr<std::unique_ptr<Subprocess>> started = Subprocess::Start(options);
    ASSERT_TRUE(started.ok()) << started.status();
    process_ = *std::move(started);
  }

  v1::Verdict Verify(const v1::VerifierRequest& request) {
    EXPECT_TRUE(SendMessage(socket_.get(), request, absl::InfiniteFuture()).ok());
    v1::VerifierReply reply;
    while (true) {
      const absl::Status received = ReceiveMessage(socket_.get(), absl::InfiniteFuture(), &reply);
      EXPECT_TRUE(received.ok()) << received;
      if (!received.ok()) return {};
      EXPECT_EQ(reply.request_id(), "test");
      if (reply.has_progress()) {
        stages_.push_back(reply.progress().stage());
        continue;
      }
      EXPECT_EQ(reply.infrastructure_error(), "");
      return reply.verdict();
    }
  }

  UniqueFd socket_;
  std::unique_ptr<Subprocess> process_;
  std::vector<std::string> stages_;
};

TEST_F(SandboxedVerifierTest, HonestCandidatePasses) {
  const v1::Verdict verdict = Verify(ScreenRequest("honest_threads"));
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  EXPECT_THAT(verdict.suspicions(), IsEmpty());
  EXPECT_EQ(verdict.isolation().backend(), "bubblewrap");
  EXPECT_TRUE(verdict.isolation().seccomp());
#ifndef KSEARCH_SANITIZED
  EXPECT_TRUE(verdict.isolation().tight_seccomp());
#endif
  EXPECT_TRUE(verdict.isolation().unprivileged_uid());
  EXPECT_THAT(stages_, ::testing::Contains("measure"));
}

TEST_F(SandboxedVerifierTest, BadCandidatesAreToldApart) {
  const std::pair<const char*, v1::Outcome> cases[] = {
      {"crash", v1::OUTCOME_RUNTIME_ERROR},          {"early_exit", v1::OUTCOME_RUNTIME_ERROR},
      {"constructor_crash", v1::OUTCOME_LOAD_ERROR}, {"missing_symbol", v1::OUTCOME_LOAD_ERROR},
      {"infinite_loop", v1::OUTCOME_TIMEOUT},        {"forged_done", v1::OUTCOME_CHEAT},
      {"out_of_bounds", v1::OUTCOME_OUT_OF_BOUNDS},  {"new_process", v1::OUTCOME_RUNTIME_ERROR},
  };
  for (const auto& [name, outcome] : cases) {
#ifdef KSEARCH_SANITIZED
    if (name == std::string("new_process")) continue;  // sanitized runners have no tight filter
#endif
    const v1::Verdict verdict = Verify(ScreenRequest(name));
    EXPECT_EQ(v1::Outcome_Name(verdict.outcome()), v1::Outcome_Name(outcome))
        << name << ": " << verdict.message();
  }
  EXPECT_EQ(Verify(ScreenRequest("honest")).outcome(), v1::OUTCOME_PASSED);
}

TEST_F(SandboxedVerifierTest, WhatACandidatePrintsIsKeptUntilItHasInputs) {
  const v1::Verdict verdict = Verify(ScreenRequest("printing"));
  EXPECT_EQ(verdict.outcome(), v1::OUTCOME_PASSED) << verdict.message();
  EXPECT_EQ(verdict.stderr_excerpt(), "hello from the candidate\n");
}

// Without the probe, a device that starts no runner would take and return one job after another.
TEST_F(SandboxedVerifierTest, AProbeSaysWhenRunnersDoNotStart) {
  const std::filesystem::path folder = ScratchFolder() + "/own_bin";
  std::filesystem::create_directory(folder);
  for (const char* program : {"ksearch-verifier", "ksearch-runner"}) {
    std::filesystem::copy(CopiedProgram(program), folder / program);
  }
  StartFrom(folder.string());
  const auto probe = [&] {
    v1::VerifierRequest request;
    request.set_request_id("test");
    request.set_probe(true);
    EXPECT_TRUE(SendMessage(socket_.get(), request, absl::InfiniteFuture()).ok());
    v1::VerifierReply reply;
    const absl::Status received = ReceiveMessage(socket_.get(), absl::InfiniteFuture(), &reply);
    EXPECT_TRUE(received.ok()) << received;
    return reply;
  };
  const v1::VerifierReply well = probe();
  EXPECT_EQ(well.infrastructure_error(), "");
  EXPECT_EQ(well.verdict().outcome(), v1::OUTCOME_PASSED);

  const std::string runner = (folder / "ksearch-runner").string();
  std::filesystem::rename(runner, runner + ".kept");
  std::ofstream(runner) << "#!/bin/sh\necho 'a library is missing' >&2\nexit 127\n";
  std::filesystem::permissions(runner, std::filesystem::perms(0755));
  EXPECT_THAT(probe().infrastructure_error(), HasSubstr("runner"));
  std::filesystem::rename(runner + ".kept", runner);
  EXPECT_EQ(probe().verdict().outcome(), v1::OUTCOME_PASSED);
}

TEST_F(SandboxedVerifierTest, EndsWhenTheWorkerHangsUp) {
  socket_.Reset();
  const auto exit = process_->Wait(Clock::Real().SteadyNow() + absl::Seconds(20));
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->code, 0);
}

}  // namespace
}  // namespace ksearch
