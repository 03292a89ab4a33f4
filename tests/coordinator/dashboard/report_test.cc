#include "coordinator/dashboard/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/digest.h"
#include "common/textproto.h"
#include "coordinator/dashboard/asset.h"
#include "tests/coordinator/dashboard/hostile_run.h"

namespace ksearch::dashboard {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int64_t kRoom = 1 << 20;

// Between the nth `begin` and the `end` that follows.
std::string Between(const std::string& text, const std::string& begin, const std::string& end) {
  const size_t from = text.find(begin);
  EXPECT_NE(from, std::string::npos) << begin;
  if (from == std::string::npos) return "";
  const size_t start = from + begin.size();
  return text.substr(start, text.find(end, start) - start);
}

TEST(ReportTest, HoldsEverythingAndNothingOfTheRunIsCode) {
  const auto html =
      MakeReport(AnswerOfHostileRun, "r", kRoom, absl::FromUnixSeconds(1'790'000'000));
  ASSERT_TRUE(html.ok()) << html.status();
  EXPECT_THAT(*html, Not(HasSubstr("'taken'</script>")));
  EXPECT_THAT(*html, Not(HasSubstr("<img src=x")));
  const std::string recorded =
      Between(*html, "<script type=\"application/json\" id=\"recorded\">", "</script>");
  EXPECT_THAT(recorded, Not(HasSubstr("<")));
  EXPECT_THAT(recorded, HasSubstr("\"made_at\": \"2026-09-21T14:13:20+00:00\""));
  EXPECT_THAT(recorded, HasSubstr("\"candidate_id\":\"c1\""));
  // Exactly two scripts, and the second is the one that the policy allows.
  const std::vector<std::string> parts = absl::StrSplit(*html, "<script");
  EXPECT_EQ(parts.size(), 3u);
  const std::string script = Between(*html, "<script>", "</script>");
  EXPECT_EQ(script, BundleModules("app.js"));
  const std::string policy = Between(*html, "Content-Security-Policy\" content=\"", "\"");
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  for (const std::string& text : {script, Between(*html, "<style>", "</style>")}) {
    EXPECT_THAT(policy,
                HasSubstr(absl::StrCat(
                    "'sha256-", absl::Base64Escape(absl::HexStringToBytes(Sha256Hex(text))), "'")));
  }
  // Nothing is fetched.
  EXPECT_THAT(script, Not(HasSubstr("fetch(")));
  EXPECT_THAT(*html, Not(HasSubstr("src=\"")));
}

TEST(ReportTest, ModulesBecomeOneScript) {
  const std::string script = BundleModules("app.js");
  for (const absl::string_view line : absl::StrSplit(script, '\n')) {
    EXPECT_FALSE(absl::StartsWith(line, "import ")) << line;
    EXPECT_FALSE(absl::StartsWith(line, "export ")) << line;
  }
  // Each once, after those that it needs.
  std::map<std::string, size_t> places;
  for (const Asset& asset : Assets()) {
    const std::string name(asset.path.substr(1));
    if (!absl::EndsWith(name, ".js")) continue;
    const std::string head = absl::StrCat("modules[\"", name, "\"] = ");
    const size_t place = script.find(head);
    if (place == std::string::npos) {
      EXPECT_TRUE(name == "server.js" || name == "steering.js") << name;
      continue;
    }
    EXPECT_EQ(script.find(head, place + 1), std::string::npos) << name;
    places[name] = place;
  }
  for (const auto& [name, place] : places) {
    const size_t use = script.find(absl::StrCat("} = modules[\"", name, "\"];"));
    if (use == std::string::npos) continue;
    EXPECT_LT(place, use) << name;
  }
  EXPECT_THAT(script, HasSubstr("return { num, count, usd, micros"));
}

TEST(ReportTest, TooLargeOneIsRefusedAndErrorsAreHandedOn) {
  EXPECT_TRUE(absl::IsResourceExhausted(
      MakeReport(AnswerOfHostileRun, "r", 100, absl::UnixEpoch()).status()));
  const auto no_run = [](absl::string_view, absl::string_view) -> absl::StatusOr<std::string> {
    return absl::NotFoundError("no run");
  };
  EXPECT_TRUE(absl::IsNotFound(MakeReport(no_run, "x", kRoom, absl::UnixEpoch()).status()));
}

}  // namespace
}  // namespace ksearch::dashboard
