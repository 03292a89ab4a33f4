#include "coordinator/service/access/access_control.h"

#include <filesystem>
#include <fstream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/access/access_token.h"
#include "common/access/token_file.h"
#include "common/log.h"
#include "common/textproto.h"
#include "gtest/gtest.h"
#include "proto/search_service.pb.h"
#include "proto/worker_service.pb.h"
#include "tests/fakes/fake_clock.h"

namespace ksearch {
namespace {

constexpr char kGetRun[] = "/ksearch.v1.SearchService/GetRun";
constexpr char kStartRun[] = "/ksearch.v1.SearchService/StartRun";
constexpr char kSession[] = "/ksearch.v1.WorkerService/Session";

class AccessControlTest : public ::testing::Test {
 protected:
  AccessControlTest() {
    std::string pattern = "/tmp/ksearch-control-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = folder_ + "/tokens.textproto";
    read_ = Make(v1::ROLE_READ);
    worker_ = Make(v1::ROLE_WORKER);
    auto access = AccessControl::Create({path_, absl::Hours(1)}, &clock_);
    CHECK_OK(access.status());
    access_ = *std::move(access);
  }
  ~AccessControlTest() override { std::filesystem::remove_all(folder_); }

  NewToken Make(v1::Role role, absl::Duration good_for = absl::InfiniteDuration()) {
    const NewToken made = MakeAccessToken(role, "", clock_.Now(), clock_.Now() + good_for);
    CHECK_OK(UpdateTokenFile(path_, [&](v1::AccessTokens* list) {
      *list->add_tokens() = made.record;
      return absl::OkStatus();
    }));
    return made;
  }
  void Revoke(const std::string& id) {
    CHECK_OK(UpdateTokenFile(path_, [&](v1::AccessTokens* list) {
      for (v1::AccessToken& token : *list->mutable_tokens()) {
        if (token.token_id() == id) *token.mutable_revoked_at() = ToProto(clock_.Now());
      }
      return absl::OkStatus();
    }));
  }
  absl::StatusCode Code(const std::string& token, const char* path) {
    return access_->Authorize("Bearer " + token, path).status().code();
  }

  FakeClock clock_;
  std::string folder_, path_;
  NewToken read_, worker_;
  std::unique_ptr<AccessControl> access_;
};

// Fails for an RPC that was added without naming its role.
TEST_F(AccessControlTest, EveryRpcNamesTheRoleItNeeds) {
  int methods = 0;
  for (const auto* file :
       {v1::ListRunsRequest::descriptor()->file(), v1::WorkerHello::descriptor()->file()}) {
    for (int i = 0; i < file->service_count(); ++i) {
      for (int j = 0; j < file->service(i)->method_count(); ++j) {
        const std::string path = absl::StrCat("/", file->service(i)->full_name(), "/",
                                              file->service(i)->method(j)->name());
        const v1::Role needed = access_->RoleNeeded(path);
        EXPECT_NE(needed, v1::ROLE_UNSPECIFIED)
            << path << ": add `option (needs) = ROLE_...` to its rpc";
        EXPECT_EQ(needed == v1::ROLE_WORKER || needed == v1::ROLE_JOIN,
                  absl::StrContains(path, "WorkerService"))
            << path;
        ++methods;
      }
    }
  }
  EXPECT_GE(methods, 18);
}

TEST_F(AccessControlTest, RoleDecides) {
  EXPECT_EQ(Code(read_.token, kGetRun), absl::StatusCode::kOk);
  EXPECT_EQ(Code(read_.token, kStartRun), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(Code(read_.token, kSession), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(Code(worker_.token, kSession), absl::StatusCode::kOk);
  EXPECT_EQ(Code(worker_.token, kGetRun), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(Code(read_.token, "/ksearch.v1.SearchService/Nothing"),
            absl::StatusCode::kPermissionDenied);
}

TEST_F(AccessControlTest, StrangersAllGetTheSameAnswer) {
  std::string wrong = read_.token;
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  std::string unknown = read_.token;
  unknown.replace(8, 12, std::string(12, 'f'));
  std::string raised = read_.token;
  raised.replace(0, 8, "ks_admin_");
  const absl::Status none = access_->Authorize("", kGetRun).status();
  EXPECT_TRUE(absl::IsUnauthenticated(none));
  for (const std::string& header : {"Bearer " + wrong, "Bearer " + unknown, "Bearer " + raised,
                                    read_.token, "bearer " + read_.token, "Basic " + read_.token,
                                    std::string("Bearer "), "Bearer " + read_.token + " "}) {
    EXPECT_EQ(access_->Authorize(header, kGetRun).status(), none) << header;
  }
}

TEST_F(AccessControlTest, ExpiredTokenEndsByItself) {
  const NewToken brief = Make(v1::ROLE_READ, absl::Minutes(5));
  access_->Reload();
  std::vector<std::string> ended;
  access_->SetEndedListener([&](const std::string& id) { ended.push_back(id); });
  EXPECT_EQ(Code(brief.token, kGetRun), absl::StatusCode::kOk);
  clock_.Advance(absl::Minutes(6));
  EXPECT_EQ(Code(brief.token, kGetRun), absl::StatusCode::kUnauthenticated);
  EXPECT_TRUE(absl::IsUnauthenticated(access_->CheckStillGood(brief.record.token_id())));
  EXPECT_TRUE(absl::StrContains(
      access_->Authorize("Bearer " + brief.token, kGetRun).status().message(), "expired"));
  access_->Reload();
  EXPECT_EQ(ended, std::vector<std::string>{brief.record.token_id()});
  access_->Reload();
  EXPECT_EQ(ended.size(), 1u) << "said once";
}

TEST_F(AccessControlTest, CertificateStandsForItsJoinTokenUntilThatIsRevoked) {
  constexpr char kJoin[] = "/ksearch.v1.WorkerService/Join";
  const NewToken join = Make(v1::ROLE_JOIN, absl::Minutes(5));
  access_->Reload();
  EXPECT_EQ(Code(join.token, kJoin), absl::StatusCode::kOk);
  EXPECT_EQ(Code(join.token, kSession), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(Code(worker_.token, kJoin), absl::StatusCode::kPermissionDenied);
  const JoinedWorker worker = {join.record.token_id(), "w1", std::string(32, 'a'),
                               clock_.Now() + absl::Hours(1)};
  std::vector<std::string> ended, ended_workers;
  access_->SetEndedListener([&](const std::string& id) { ended.push_back(id); },
                            [&](const std::string& id) { ended_workers.push_back(id); });
  const auto code = [&](const char* path) {
    return access_->AuthorizeJoined(worker, path).status().code();
  };
  clock_.Advance(absl::Minutes(6));
  access_->Reload();
  EXPECT_EQ(Code(join.token, kJoin), absl::StatusCode::kUnauthenticated) << "expired";
  EXPECT_EQ(code(kSession), absl::StatusCode::kOk) << "who is in stays in";
  EXPECT_EQ(code(kJoin), absl::StatusCode::kOk) << "and renews";
  EXPECT_EQ(code(kGetRun), absl::StatusCode::kPermissionDenied);
  EXPECT_TRUE(ended.empty());
  // A certificate from a token that is not a join token is worthless.
  JoinedWorker other = worker;
  other.token_id = worker_.record.token_id();
  EXPECT_TRUE(absl::IsUnauthenticated(access_->AuthenticateJoined(other).status()));

  CHECK_OK(UpdateTokenFile(path_, [&](v1::AccessTokens* list) {
    list->add_revoked_workers()->set_worker_id("w1");
    return absl::OkStatus();
  }));
  access_->Reload();
  EXPECT_EQ(code(kSession), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(ended_workers, std::vector<std::string>{"w1"});
  CHECK_OK(UpdateTokenFile(path_, [&](v1::AccessTokens* list) {
    list->clear_revoked_workers();
    return absl::OkStatus();
  }));
  access_->Reload();
  EXPECT_EQ(code(kSession), absl::StatusCode::kOk);
  Revoke(join.record.token_id());
  access_->Reload();
  EXPECT_EQ(code(kSession), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(ended, std::vector<std::string>{join.record.token_id()});
  clock_.Advance(absl::Hours(1));
  EXPECT_TRUE(absl::StrContains(access_->AuthenticateJoined(worker).status().message(), "ended"));
}

TEST_F(AccessControlTest, RevokedTokenEndsWithTheNextLook) {
  std::vector<std::string> ended;
  access_->SetEndedListener([&](const std::string& id) { ended.push_back(id); });
  Revoke(read_.record.token_id());
  access_->Reload();
  EXPECT_EQ(Code(read_.token, kGetRun), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(Code(worker_.token, kSession), absl::StatusCode::kOk);
  EXPECT_EQ(ended, std::vector<std::string>{read_.record.token_id()});
}

TEST_F(AccessControlTest, NewTokenWorksWithoutARestart) {
  const NewToken late = Make(v1::ROLE_SUBMIT);
  EXPECT_EQ(Code(late.token, kStartRun), absl::StatusCode::kUnauthenticated);
  access_->Reload();
  EXPECT_EQ(Code(late.token, kStartRun), absl::StatusCode::kOk);
}

TEST_F(AccessControlTest, BrokenOrMissingFileNeverOpensTheDoor) {
  std::ofstream(path_) << "tokens { nonsense";
  access_->Reload();
  EXPECT_EQ(Code(read_.token, kGetRun), absl::StatusCode::kOk) << "those read before stay";
  EXPECT_EQ(Code("", kGetRun), absl::StatusCode::kUnauthenticated);
  std::filesystem::remove(path_);
  access_->Reload();
  EXPECT_EQ(Code("", kGetRun), absl::StatusCode::kUnauthenticated);
  EXPECT_TRUE(absl::IsNotFound(AccessControl::Create({path_, absl::Hours(1)}, &clock_).status()));
}

}  // namespace
}  // namespace ksearch
