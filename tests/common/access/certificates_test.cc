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

TEST_F(CertificatesTest, OnlyWorkerUrisNameWorkers) {
  EXPECT_EQ(WorkerNameOfUri("ksearch://worker/node7"), "node7");
  for (const char* uri : {"", "ksearch://worker/", "ksearch://worker/a/b", "spiffe://worker/a",
                          "https://ksearch://worker/a", "ksearch://admin/a"}) {
    EXPECT_FALSE(WorkerNameOfUri(uri).has_value()) << uri;
  }
}

}  // namespace
}  // namespace ksearch
