#include "coordinator/proposer/reply/json_spans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> Spans(absl::string_view text) {
  std::vector<std::string> spans;
  for (const JsonSpan& span : FindJsonSpans(text).spans) {
    spans.emplace_back(text.substr(span.begin, span.end - span.begin));
  }
  return spans;
}

TEST(JsonSpansTest, LatestFirstOuterBeforeInner) {
  EXPECT_THAT(Spans("a {1} b {2 {3} {4}} c"), ElementsAre("{2 {3} {4}}", "{4}", "{3}", "{1}"));
}

TEST(JsonSpansTest, BracesInStringsDoNotCount) {
  EXPECT_THAT(Spans(R"({"a": "}{", "b": "\"}"})"), ElementsAre(R"({"a": "}{", "b": "\"}"})"));
}

TEST(JsonSpansTest, QuotesOutsideObjectsMeanNothing) {
  EXPECT_THAT(Spans("say \" and {1}"), ElementsAre("{1}"));
}

TEST(JsonSpansTest, AStrayBraceDoesNotHideWhatFollows) {
  const std::string text = "a stray { here, it's \"odd\n{\"ops\": []}";
  EXPECT_THAT(Spans(text), ElementsAre("{\"ops\": []}"));
  EXPECT_EQ(FindJsonSpans(text).first_unclosed, 8u);
}

TEST(JsonSpansTest, NothingToFind) {
  EXPECT_THAT(Spans(""), IsEmpty());
  EXPECT_THAT(Spans("}}}{{{"), IsEmpty());
  EXPECT_EQ(FindJsonSpans("}}").first_unclosed, absl::string_view::npos);
}

TEST(JsonSpansTest, Depth) {
  EXPECT_EQ(JsonDepth("{}"), 1);
  EXPECT_EQ(JsonDepth(R"({"a": [[{"b": "[[[["}]]})"), 4);
  EXPECT_EQ(JsonDepth(std::string(100000, '[')), 100000);
}

}  // namespace
}  // namespace ksearch
