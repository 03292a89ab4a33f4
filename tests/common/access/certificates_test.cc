#include "common/access/certificates.h"

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

const absl::Time kFrom = absl::FromUnixSeconds(1'700'000'000);
const absl::Time kUntil = kFrom + absl::Hours(24);
const absl::Time kNow = kFrom + absl::Hours(1);

CertificateRequest ForServer(std::vector<std::string> hosts) {
  CertificateRequest request;
  request.name = "coordinator";
  request.hosts = std::move(hosts);
  request.not_before = kFrom;
  request.not_after = kUntil;
  return request;
}

class CertificatesTest : public ::testing::Test {
 protected:
  const KeyPair authority_ = MakeAuthority("test", kFrom, kUntil).value();
};

TEST_F(CertificatesTest, IssuedPairsFitAndAreValidInTheirTime) {
  const auto pair = IssueCertificate(authority_, ForServer({"host.example", "10.0.0.1", "::1"}));
  ASSERT_TRUE(pair.ok()) << pair.status();
  EXPECT_TRUE(CheckKeyPair(*pair, kNow, "server").ok());
  EXPECT_TRUE(CheckKeyPair(authority_, kNow, "authority").ok());
  const absl::Status early = CheckKeyPair(*pair, kFrom - absl::Hours(1), "server");
  EXPECT_TRUE(absl::StrContains(early.message(), "server: the certificate is not valid yet"));
  const absl::Status late = CheckKeyPair(*pair, kUntil + absl::Hours(1), "server");
  EXPECT_TRUE(absl::StrContains(late.message(), "has expired")) << late;
}

TEST_F(CertificatesTest, WrongPairsAreNamed) {
  const auto one = IssueCertificate(authority_, ForServer({"a"}));
  const auto two = IssueCertificate(authority_, ForServer({"b"}));
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_TRUE(absl::StrContains(CheckKeyPair({one->certificate, two->key}, kNow, "x").message(),
                                "does not belong"));
  EXPECT_TRUE(
      absl::StrContains(CheckKeyPair({"no", one->key}, kNow, "x").message(), "no certificate"));
  EXPECT_TRUE(absl::StrContains(CheckKeyPair({one->certificate, "no"}, kNow, "x").message(),
                                "no private key"));
}

TEST_F(CertificatesTest, NamesCannotSmuggleOtherNamesIn) {
  for (const char* host : {"", "a,DNS:b", "a\nDNS:b", "a b", "URI:x/y"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(IssueCertificate(authority_, ForServer({host})).status()))
        << host;
  }
  CertificateRequest worker = ForServer({});
  worker.use = CertificateRequest::Use::kWorker;
  for (const char* name : {"", "a,URI:b", "a/b", "a b"}) {
    worker.name = name;
    EXPECT_TRUE(absl::IsInvalidArgument(IssueCertificate(authority_, worker).status())) << name;
  }
  worker.name = "node-7.rack_2";
  EXPECT_TRUE(IssueCertificate(authority_, worker).ok());
}

TEST_F(CertificatesTest, ServerNeedsHostsAndAuthorityItsKey) {
  EXPECT_TRUE(absl::IsInvalidArgument(IssueCertificate(authority_, ForServer({})).status()));
  const KeyPair other = MakeAuthority("other", kFrom, kUntil).value();
  EXPECT_TRUE(absl::IsInvalidArgument(
      IssueCertificate({authority_.certificate, other.key}, ForServer({"a"})).status()));
}

TEST_F(CertificatesTest, SignsTheKeyOfARequestAndNothingElseOfIt) {
  const std::string key = MakeKey().value();
  const std::string request = MakeSigningRequest(key).value();
  JoinedWorker who = {"0123456789ab", "w-1", "", kUntil};
  const auto certificate = SignJoinedWorker(authority_, request, who, kFrom);
  ASSERT_TRUE(certificate.ok()) << certificate.status();
  EXPECT_TRUE(CheckKeyPair({*certificate, key}, kNow, "x").ok());
  EXPECT_FALSE(CheckKeyPair({*certificate, MakeKey().value()}, kNow, "x").ok());
  EXPECT_EQ(EndOfCertificate(*certificate).value(), kUntil);
  EXPECT_EQ(KeyIdOfRequest(request).value().size(), 32u);
  EXPECT_EQ(KeyIdOfRequest(MakeSigningRequest(key).value()).value(),
            KeyIdOfRequest(request).value())
      << "of the key, not of the request";
  for (const char* id : {"", "a/b", "a,URI:b", "a b"}) {
    who.worker_id = id;
    EXPECT_FALSE(SignJoinedWorker(authority_, request, who, kFrom).ok()) << id;
  }
  who.worker_id = "w-1";
  std::string tampered = request;
  char& letter = tampered[tampered.size() / 2];
  letter = letter == 'A' ? 'B' : 'A';
  for (const std::string& bad : {std::string(), std::string("x"), key, tampered,
                                 std::string(9000, 'x'), request + std::string(9000, '\n')}) {
    EXPECT_TRUE(absl::IsInvalidArgument(SignJoinedWorker(authority_, bad, who, kFrom).status()));
  }
}

TEST_F(CertificatesTest, UriOfAWorkerThatJoinedSaysWhoItIs) {
  const std::string key(32, 'a');
  const auto worker = JoinedWorkerOfUri("ksearch://joined/0123456789ab/w-1/" + key + "/1700000000");
  ASSERT_TRUE(worker.has_value());
  EXPECT_EQ(worker->token_id, "0123456789ab");
  EXPECT_EQ(worker->worker_id, "w-1");
  EXPECT_EQ(worker->key_id, key);
  EXPECT_EQ(worker->ends, absl::FromUnixSeconds(1700000000));
  for (const std::string& uri :
       {std::string("ksearch://worker/w-1"), "ksearch://joined/t/w/" + key,
        "ksearch://joined/t/w/" + key + "/", "ksearch://joined/t/w/" + key + "/1/2",
        "ksearch://joined/t//" + key + "/1", std::string("ksearch://joined/t/w/short/1")}) {
    EXPECT_FALSE(JoinedWorkerOfUri(uri).has_value()) << uri;
  }
}

TEST_F(CertificatesTest, OnlyWorkerUrisNameWorkers) {
  EXPECT_EQ(WorkerNameOfUri("ksearch://worker/node7"), "node7");
  for (const char* uri : {"", "ksearch://worker/", "ksearch://worker/a/b", "spiffe://worker/a",
                          "https://ksearch://worker/a", "ksearch://admin/a"}) {
    EXPECT_FALSE(WorkerNameOfUri(uri).has_value()) << uri;
  }
}

}  // namespace
}  // namespace ksearch
