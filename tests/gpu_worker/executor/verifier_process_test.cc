#include "gpu_worker/executor/verifier_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "absl/strings/str_cat.h"
#include "common/clock.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

absl::Time In(absl::Duration delay) { return Clock::Real().SteadyNow() + delay; }

class VerifierProcessTest : public testing::Test {
 protected:
  static std::string Binary() {
    return absl::StrCat(std::getenv("KSEARCH_BIN_DIR"), "/ksearch-scripted-verifier");
  }
  absl::StatusOr<v1::Verdict> Ask(const std::string& what,
                                  absl::Duration patience = absl::Seconds(60),
                                  std::stop_token stop = {}) {
    v1::VerifierRequest request;
    request.mutable_job()->set_salt(what);
    // Larger than a socket's buffer.
    request.mutable_task()->set_name("task");
    request.mutable_task()->set_title(std::string(2 << 20, 'x'));
    return verifier_.Judge(std::move(request), In(patience), stop);
  }

  VerifierProcess verifier_{{.binary_path = Binary(), .config_path = "/dev/null"}};
};

TEST_F(VerifierProcessTest, OneProcessServesManyRequests) {
  const auto first = Ask("pass");
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->outcome(), v1::OUTCOME_PASSED);
  EXPECT_EQ(first->message(), Ask("pass")->message());  // holds the process id
}

TEST_F(VerifierProcessTest, TroubleIsPassedOnAndTheProcessStays) {
  const std::string before = Ask("pass")->message();
  const auto trouble = Ask("trouble");
  EXPECT_EQ(trouble.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(trouble.status().message()), HasSubstr("no memory for the oracle"));
  EXPECT_EQ(Ask("pass")->message(), before);
}

TEST_F(VerifierProcessTest, DeathIsRetriedOnce) {
  const std::string mark = absl::StrCat(testing::TempDir(), "verifier_process_test.", ::getpid());
  EXPECT_TRUE(Ask("die_once:" + mark).ok());
  ::unlink(mark.c_str());
}

TEST_F(VerifierProcessTest, TwoDeathsAreAnErrorAndTheNextRequestIsServed) {
  const auto dead = Ask("die");
  EXPECT_EQ(dead.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(dead.status().message()), HasSubstr("ended with status 9"));
  EXPECT_TRUE(Ask("pass").ok());
}

TEST_F(VerifierProcessTest, GarbageIsAnError) {
  EXPECT_EQ(Ask("garbage").status().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(Ask("pass").ok());
}

TEST_F(VerifierProcessTest, DeadlineEndsAHangingProcess) {
  EXPECT_EQ(Ask("hang", absl::Milliseconds(300)).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(Ask("pass").ok());
}

TEST_F(VerifierProcessTest, StopEndsAHangingProcess) {
  std::stop_source stop;
  absl::StatusOr<v1::Verdict> verdict = absl::UnknownError("not asked");
  std::thread asking([&] { verdict = Ask("hang", absl::Seconds(60), stop.get_token()); });
  stop.request_stop();
  asking.join();
  EXPECT_EQ(verdict.status().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(Ask("pass").ok());
}

TEST(VerifierProcessStartTest, MissingBinaryIsNamed) {
  VerifierProcess verifier({.binary_path = "/no/such/ksearch-verifier", .config_path = ""});
  const auto verdict = verifier.Judge({}, In(absl::Seconds(5)), {});
  EXPECT_THAT(std::string(verdict.status().message()), HasSubstr("/no/such/ksearch-verifier"));
}

}  // namespace
}  // namespace ksearch
