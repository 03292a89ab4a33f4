#include "coordinator/llm/model_server/cassette.h"

#include <cstdlib>
#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<Cassette> Parse(const std::string& text,
                               std::map<std::string, std::string> files = {}) {
  return Cassette::Parse(text, "c.textproto",
                         [files](const std::string& path) -> absl::StatusOr<std::string> {
                           const auto found = files.find(path);
                           if (found != files.end()) return found->second;
                           return absl::NotFoundError("open " + path + ": no such file");
                         });
}

std::string Found(const Cassette& cassette, const CassetteKey& key) {
  const Cassette::Entry* entry = cassette.Find(key);
  return entry == nullptr ? "(none)" : entry->text;
}

TEST(CassetteTest, TheMostSpecificEntryWinsWhateverTheOrder) {
  const auto cassette = Parse(R"(
    entries { purpose: "action" text: "fallback" }
    entries { purpose: "action" cycle: 2 text: "cycle" }
    entries { purpose: "action" attempt: 2 text: "attempt" }
    entries { purpose: "action" node: "a" attempt: 2 text: "node and attempt" }
    entries { purpose: "action" node: "a" text: "node" }
    entries { purpose: "action" node: "a" attempt: 2 cycle: 2 text: "all" }
  )");
  ASSERT_TRUE(cassette.ok()) << cassette.status();
  EXPECT_EQ(Found(*cassette, {"action", "b", 1, 1}), "fallback");
  EXPECT_EQ(Found(*cassette, {"action", "", 0, 0}), "fallback");
  EXPECT_EQ(Found(*cassette, {"action", "b", 1, 2}), "cycle");
  EXPECT_EQ(Found(*cassette, {"action", "b", 2, 2}), "attempt");
  EXPECT_EQ(Found(*cassette, {"action", "a", 1, 2}), "node");
  EXPECT_EQ(Found(*cassette, {"action", "a", 2, 1}), "node and attempt");
  EXPECT_EQ(Found(*cassette, {"action", "a", 2, 2}), "all");
  EXPECT_EQ(Found(*cassette, {"debug", "a", 2, 2}), "(none)");
}

TEST(CassetteTest, FilesBecomeBlocksBetweenTheProse) {
  const auto cassette = Parse(R"(entries {
      purpose: "action" text: "before"
      files { path: "kernel.cpp" from: "k/a.cpp" }
      files { path: "b.h" from: "b" }
      text_after: "after" })",
                              {{"k/a.cpp", "int a;\n"}, {"b", "int b;"}});
  ASSERT_TRUE(cassette.ok()) << cassette.status();
  EXPECT_EQ(cassette->entries()[0].text,
            "before\n<file path=\"kernel.cpp\">\nint a;\n</file>\n"
            "<file path=\"b.h\">\nint b;\n</file>\nafter");
}

TEST(CassetteTest, DefaultsAreFilledIn) {
  const auto cassette = Parse(R"(delay { seconds: 2 }
    entries { purpose: "a" text: "x" }
    entries { purpose: "b" text_file: "f" delay { seconds: 1 } finish_reason: "length" })",
                              {{"f", "from file"}});
  ASSERT_TRUE(cassette.ok()) << cassette.status();
  EXPECT_EQ(cassette->model(), "scripted");
  EXPECT_EQ(cassette->entries()[0].delay, absl::Seconds(2));
  EXPECT_EQ(cassette->entries()[0].finish_reason, "stop");
  EXPECT_EQ(cassette->entries()[1].delay, absl::Seconds(1));
  EXPECT_EQ(cassette->entries()[1].finish_reason, "length");
  EXPECT_EQ(cassette->entries()[1].text, "from file");
}

TEST(CassetteTest, EveryFaultIsListedWithFileLineAndEntry) {
  const auto cassette = Parse(R"(entries { purpose: "a" }
entries { text: "x" attempt: -1 }
entries {
  purpose: "b" text: "x"
  files { path: "k\"" from: "none.cpp" }
  fault { http_status: 42 times: -1 }
}
entries { purpose: "a" text: "y" })");
  EXPECT_EQ(cassette.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(cassette.status().message(),
            "c.textproto:1: entry 1: no reply: set text, text_file or files\n"
            "c.textproto:2: entry 2: purpose is missing\n"
            "c.textproto:2: entry 2: attempt must not be negative\n"
            "c.textproto:3: entry 3: fault.http_status is 42; must be 200 to 599\n"
            "c.textproto:3: entry 3: fault.times must not be negative\n"
            "c.textproto:3: entry 3: files: path must not hold quotes or line breaks\n"
            "c.textproto:3: entry 3: files.from: open none.cpp: no such file\n"
            "c.textproto:8: entry 4: same key (purpose \"a\") as the entry in line 1");
}

TEST(CassetteTest, SyntaxErrorsNameLineAndField) {
  EXPECT_THAT(std::string(Parse("entries {\n porpose: \"a\" }").status().message()),
              HasSubstr("c.textproto:2:"));
  EXPECT_THAT(std::string(Parse("").status().message()), HasSubstr("no entries"));
}

TEST(CassetteTest, AbsolutePathsAreRefused) {
  const auto cassette =
      Parse(R"(entries { purpose: "a" text_file: "/etc/hostname" })", {{"/etc/hostname", "x"}});
  EXPECT_THAT(std::string(cassette.status().message()), HasSubstr("must be relative"));
}

TEST(CassetteTest, NearestNamesLikelyEntriesFirst) {
  const auto cassette = Parse(R"(entries { purpose: "a" text: "x" node: "n" attempt: 1 }
entries { purpose: "b" text: "x" node: "m" }
entries { purpose: "b" text: "x" node: "n" attempt: 2 })");
  ASSERT_TRUE(cassette.ok());
  EXPECT_THAT(cassette->Nearest({"b", "n", 3, 0}, 2),
              ElementsAre("purpose \"b\" node \"n\" attempt 2 (line 3)",
                          "purpose \"b\" node \"m\" (line 2)"));
}

TEST(CassetteTest, TheExampleIsSound) {
  const auto cassette =
      Cassette::Load(std::string(std::getenv("KSEARCH_SOURCE_DIR")) +
                     "/tests/coordinator/llm/testdata/example/cassette.textproto");
  ASSERT_TRUE(cassette.ok()) << cassette.status();
  EXPECT_EQ(cassette->entries().size(), 8u);
  EXPECT_THAT(Found(*cassette, {"debug", "vectorize", 2, 1}), HasSubstr("lane < 4"));
}

}  // namespace
}  // namespace ksearch
