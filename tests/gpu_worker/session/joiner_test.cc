#include "gpu_worker/session/joiner.h"

#include <sys/stat.h>

#include <optional>
#include <string>
#include <vector>

#include "common/access/certificates.h"
#include "common/log.h"
#include "common/textproto.h"
#include "gtest/gtest.h"
#include "tests/gpu_worker/session/scratch_folder.h"

namespace ksearch {
namespace {

constexpr absl::Duration kLife = absl::Hours(3);

class JoinerTest : public ::testing::Test {
 protected:
  JoinerTest() {
    access_.token = "ks_join_000000000000_secret";
    access_.ca = "-----BEGIN CERTIFICATE-----";
    hello_.set_worker_id("w-1");
    hello_.set_pool("spot");
  }
  std::unique_ptr<Joiner> Open() {
    auto joiner = Joiner::Open(
        folder_.path(), access_, hello_,
        [this](const ClientAccess& access, const v1::JoinRequest& request) {
          return Answer(access, request);
        },
        absl::Now());
    CHECK_OK(joiner.status());
    return *std::move(joiner);
  }
  absl::StatusOr<v1::JoinReply> Answer(const ClientAccess& access, const v1::JoinRequest& request) {
    asked_with_.push_back(access.token.empty() ? "certificate" : "token");
    keys_.push_back(KeyIdOfRequest(request.signing_request()).value());
    EXPECT_EQ(request.pool(), "spot");
    const absl::Status& refusal = access.token.empty() ? certificate_refused_ : token_refused_;
    if (!refusal.ok()) return refusal;
    v1::JoinReply reply;
    reply.set_certificate(SignJoinedWorker(authority_, request.signing_request(),
                                           {"t", "w-1", "", absl::Now() + kLife}, absl::Now())
                              .value());
    *reply.mutable_good_for() = ToProto(kLife);
    return reply;
  }
  absl::Status Renew(Joiner* joiner) {
    return joiner->Renew([this] { return now_; });
  }

  ScratchFolder folder_;
  ClientAccess access_;
  v1::WorkerHello hello_;
  const KeyPair authority_ =
      MakeAuthority("x", absl::Now() - absl::Hours(1), absl::Now() + absl::Hours(9)).value();
  absl::Time now_ = absl::UnixEpoch() + absl::Hours(1);  // steady
  absl::Status token_refused_, certificate_refused_;
  std::vector<std::string> asked_with_, keys_;
};

TEST_F(JoinerTest, AsksWithTheTokenFirstAndThenWithTheCertificateAndTheSameKey) {
  const auto joiner = Open();
  EXPECT_LE(joiner->due(), now_);
  ASSERT_TRUE(Renew(joiner.get()).ok());
  EXPECT_EQ(joiner->due(), now_ + kLife * 2 / 3);
  EXPECT_TRUE(joiner->access().token.empty());
  EXPECT_TRUE(
      CheckKeyPair({joiner->access().certificate, joiner->access().key}, absl::Now(), "x").ok());
  now_ = joiner->due();
  ASSERT_TRUE(Renew(joiner.get()).ok());
  EXPECT_EQ(asked_with_, (std::vector<std::string>{"token", "certificate"}));
  EXPECT_EQ(keys_[0], keys_[1]);
  struct stat facts;
  ASSERT_EQ(::stat((folder_.path() + "/worker.key").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
}

TEST_F(JoinerTest, ALaterLifeUsesTheCertificateAndTheTokenIfThatIsNotTaken) {
  ASSERT_TRUE(Renew(Open().get()).ok());
  token_refused_ = absl::UnauthenticatedError("expired");
  ASSERT_TRUE(Renew(Open().get()).ok());
  certificate_refused_ = absl::UnavailableError("handshake");
  token_refused_ = absl::OkStatus();
  ASSERT_TRUE(Renew(Open().get()).ok());
  EXPECT_EQ(asked_with_,
            (std::vector<std::string>{"token", "certificate", "certificate", "token"}));
  EXPECT_EQ(keys_[0], keys_[3]);
}

TEST_F(JoinerTest, TriesAgainWhileTheCertificateLasts) {
  const auto joiner = Open();
  ASSERT_TRUE(Renew(joiner.get()).ok());
  now_ += kLife * 2 / 3;
  certificate_refused_ = absl::UnavailableError("away");
  token_refused_ = absl::UnauthenticatedError("expired");
  EXPECT_TRUE(absl::IsUnavailable(Renew(joiner.get()))) << "the token is not what counts";
  EXPECT_TRUE(joiner->HasCertificate(now_));
  EXPECT_GT(joiner->due(), now_);
  EXPECT_LT(joiner->due(), now_ + kLife / 3);
  now_ += kLife;
  EXPECT_FALSE(joiner->HasCertificate(now_));
  EXPECT_TRUE(absl::IsUnauthenticated(Renew(joiner.get())));
}

TEST_F(JoinerTest, RefusesAnOpenKeyAndPlainConnections) {
  Open();
  ASSERT_EQ(::chmod((folder_.path() + "/worker.key").c_str(), 0640), 0);
  const auto ask = [](const ClientAccess&, const v1::JoinRequest&) {
    return absl::StatusOr<v1::JoinReply>(absl::UnavailableError(""));
  };
  EXPECT_TRUE(absl::IsFailedPrecondition(
      Joiner::Open(folder_.path(), access_, hello_, ask, absl::Now()).status()));
  access_.ca.clear();
  EXPECT_TRUE(absl::IsInvalidArgument(
      Joiner::Open(folder_.path(), access_, hello_, ask, absl::Now()).status()));
}

}  // namespace
}  // namespace ksearch
