// YAML of task files: the values of words, and what is refused.
#include "coordinator/suites/gpumode/located_yaml.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string Json(const std::string& yaml) {
  const auto value = ParseLocatedYaml(yaml, "t.yml");
  return value.ok() ? WriteJson(*value, -1) : std::string(value.status().message());
}

TEST(LocatedYamlTest, WordsAreWhatTheyAreInPython) {
  EXPECT_EQ(Json("a: 1\nb: -7\nc: 0x1F\nd: 1.5\ne: True\nf: no\ng: null\nh:\ni: ~\n"),
            R"({"a":1,"b":-7,"c":31,"d":1.5,"e":true,"f":false,"g":null,"h":null,"i":null})");
  EXPECT_EQ(Json("a: '1'\nb: \"no\"\nc: 1e-5\nd: 2100-12-31\ne: 1.2.3\nf: word\n"),
            R"({"a":"1","b":"no","c":"1e-5","d":"2100-12-31","e":"1.2.3","f":"word"})");
}

TEST(LocatedYamlTest, BlocksAndFlowsNest) {
  EXPECT_EQ(Json("tests:\n  - {\"size\": 127, \"seed\": 4242}\n  - size: 1\n    shape: [2, 3]\n"),
            R"({"tests":[{"size":127,"seed":4242},{"size":1,"shape":[2,3]}]})");
  EXPECT_EQ(Json("text: |\n  one\n  two\nfolded: >-\n  a\n  b\n"),
            R"({"text":"one\ntwo\n","folded":"a b"})");
}

TEST(LocatedYamlTest, ByteOrderMarkAndLineEndsOfWindowsAreNoContent) {
  EXPECT_EQ(Json("\xEF\xBB\xBF"
                 "a: 1\r\nb:\r\n  - x\r\n"),
            R"({"a":1,"b":["x"]})");
}

TEST(LocatedYamlTest, LinesAreKept) {
  const auto value = ParseLocatedYaml("# comment\na: 1\nb:\n  - 2\n", "t.yml");
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(value->members[0].value.line, 2);
  EXPECT_EQ(value->members[1].value.items[0].line, 4);
}

TEST(LocatedYamlTest, RefusesWhatJsonHasNoValueFor) {
  EXPECT_THAT(Json("a: &x 1\nb: 2\n"), StartsWith("t.yml:1: anchors"));
  EXPECT_THAT(Json("a: 1\nb: *x\n"), StartsWith("t.yml:2: "));
  EXPECT_THAT(Json("a: !!python/object:os.system x\n"), StartsWith("t.yml:1: tags"));
  EXPECT_THAT(Json("1: 2\n"), HasSubstr("a key must be text"));
  EXPECT_THAT(Json("a: 1\na: 2\n"), StartsWith("t.yml:2: 'a' occurs twice"));
  EXPECT_THAT(Json("a: 1\n---\nb: 2\n"), HasSubstr("more than one document"));
  EXPECT_THAT(Json("a: .inf\n"), HasSubstr("not a finite number"));
  EXPECT_THAT(Json("a: 99999999999999999999\n"), HasSubstr("64 bits"));
  EXPECT_THAT(Json("a: 010\n"), HasSubstr("leading zeros"));
  EXPECT_THAT(Json(""), HasSubstr("empty"));
}

TEST(LocatedYamlTest, BrokenTextNamesItsLine) {
  EXPECT_THAT(Json("a: 1\nb: [1, 2\n"), StartsWith("t.yml:"));
  EXPECT_THAT(Json("a: 1\n b: 2\n"), StartsWith("t.yml:2: "));
  EXPECT_THAT(Json("a: \"\\xff\"\nb: {\n"), StartsWith("t.yml:"));
}

TEST(LocatedYamlTest, SizesAreLimited) {
  EXPECT_THAT(Json(std::string(kMaxYamlBytes + 1, '#')), HasSubstr("longer than 256 KiB"));
  std::string many = "a: [";
  for (int i = 0; i <= kMaxYamlValues; ++i) many += "1,";
  EXPECT_THAT(Json(many + "1]\n"), HasSubstr("more than 20000 values"));
  EXPECT_THAT(Json("a: " + std::string(100, '[') + std::string(100, ']')),
              HasSubstr("nested too deeply"));
}

}  // namespace
}  // namespace ksearch
