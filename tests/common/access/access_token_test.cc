#include "common/access/access_token.h"

#include "absl/strings/match.h"
#include "common/digest.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

TEST(AccessTokenTest, NewTokenMatchesItsRecordAndNoOther) {
  const NewToken one = MakeAccessToken(v1::ROLE_READ, "ann", kNow, absl::InfiniteFuture());
  const NewToken two = MakeAccessToken(v1::ROLE_READ, "bob", kNow, kNow + absl::Hours(1));
  EXPECT_TRUE(absl::StartsWith(one.token, "ks_read_"));
  EXPECT_EQ(TokenIdOf(one.token), one.record.token_id());
  EXPECT_TRUE(TokenMatches(one.token, one.record));
  EXPECT_FALSE(TokenMatches(one.token, two.record));
  EXPECT_FALSE(one.record.has_expires_at());
  EXPECT_EQ(two.record.expires_at().seconds(), 1'700'003'600);
  EXPECT_EQ(one.record.name(), "ann");
}

TEST(AccessTokenTest, RecordHoldsTheHashAndNotTheSecret) {
  const NewToken made = MakeAccessToken(v1::ROLE_ADMIN, "", kNow, absl::InfiniteFuture());
  EXPECT_EQ(made.record.sha256(), Sha256Hex(made.token));
  const std::string secret = made.token.substr(made.token.rfind('_') + 1);
  EXPECT_EQ(secret.size(), 64u);
  EXPECT_FALSE(absl::StrContains(made.record.SerializeAsString(), secret));
}

TEST(AccessTokenTest, OneChangedCharacterDoesNotMatch) {
  NewToken made = MakeAccessToken(v1::ROLE_WORKER, "", kNow, absl::InfiniteFuture());
  for (const size_t at : {size_t{3}, made.token.size() - 1}) {
    std::string changed = made.token;
    changed[at] = changed[at] == '0' ? '1' : '0';
    EXPECT_FALSE(TokenMatches(changed, made.record)) << at;
  }
}

TEST(AccessTokenTest, TextThatIsNoTokenHasNoId) {
  const std::string id(12, 'a'), secret(64, 'b');
  EXPECT_EQ(TokenIdOf("ks_read_" + id + "_" + secret), id);
  for (const std::string& text :
       {std::string(), std::string("ks"), "ks_read_" + id, "ks_owner_" + id + "_" + secret,
        "ks_read_" + id + "_" + secret + "0", "ks_read_" + id + "_" + std::string(64, 'B'),
        "ks_read_" + id + "_" + secret + "_x", "kx_read_" + id + "_" + secret,
        std::string(1 << 20, '_')}) {
    EXPECT_FALSE(TokenIdOf(text).has_value()) << text.substr(0, 100);
  }
}

TEST(AccessTokenTest, RolesCoverThoseBelowThemAndWorkerStandsApart) {
  using v1::ROLE_ADMIN, v1::ROLE_READ, v1::ROLE_SUBMIT, v1::ROLE_WORKER, v1::ROLE_UNSPECIFIED;
  EXPECT_TRUE(RoleCovers(ROLE_ADMIN, ROLE_READ));
  EXPECT_TRUE(RoleCovers(ROLE_ADMIN, ROLE_SUBMIT));
  EXPECT_TRUE(RoleCovers(ROLE_SUBMIT, ROLE_READ));
  EXPECT_FALSE(RoleCovers(ROLE_READ, ROLE_SUBMIT));
  EXPECT_FALSE(RoleCovers(ROLE_SUBMIT, ROLE_ADMIN));
  EXPECT_FALSE(RoleCovers(ROLE_ADMIN, ROLE_WORKER));
  EXPECT_FALSE(RoleCovers(ROLE_WORKER, ROLE_READ));
  for (const v1::Role role : {ROLE_ADMIN, ROLE_READ, ROLE_SUBMIT, ROLE_WORKER, ROLE_UNSPECIFIED}) {
    EXPECT_FALSE(RoleCovers(role, ROLE_UNSPECIFIED));
    EXPECT_FALSE(RoleCovers(ROLE_UNSPECIFIED, role));
  }
}

}  // namespace
}  // namespace ksearch
