#include "coordinator/llm/http/sse_parser.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<SseEvent> Events(absl::string_view stream) {
  std::vector<SseEvent> events;
  SseParser parser;
  const absl::Status status = parser.Push(stream, &events);
  EXPECT_TRUE(status.ok()) << status;
  return events;
}

// The form of the Messages API, with features that the standard also allows: a byte order mark, a
// comment, an unknown field, several data lines, characters of two, three and four bytes, an empty
// event.
constexpr char kRecorded[] =
    "\xEF\xBB\xBF"
    "event: message_start\n"
    "data: {\"type\":\"message_start\"}\n"
    "\n"
    ": keep-alive\n"
    "\n"
    "event: content_block_delta\n"
    "id: 7\n"
    "retry: 10\n"
    "data: {\"text\":\"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80\",\n"
    "data:\n"
    "data: \"more\":1}\n"
    "\n"
    "event: ping\n"
    "\n"
    "data:message: stop\n"
    "\n"
    "data\n"
    "\n"
    "data: cut off\n";

std::vector<SseEvent> RecordedEvents() {
  return {{"message_start", "{\"type\":\"message_start\"}"},
          {"content_block_delta",
           "{\"text\":\"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80\",\n\n\"more\":1}"},
          {"", "message: stop"},
          {"", ""}};
}

TEST(SseParserTest, EveryLineEndAndEverySplitGivesTheSameEvents) {
  for (const char* line_end : {"\n", "\r", "\r\n"}) {
    const std::string stream = absl::StrReplaceAll(kRecorded, {{"\n", line_end}});
    for (size_t split = 0; split <= stream.size(); ++split) {
      SseParser parser;
      std::vector<SseEvent> events;
      ASSERT_TRUE(parser.Push(stream.substr(0, split), &events).ok());
      ASSERT_TRUE(parser.Push(stream.substr(split), &events).ok());
      ASSERT_EQ(events, RecordedEvents()) << "split at " << split;
    }
    SseParser parser;
    std::vector<SseEvent> events;
    for (const char& byte : stream) {
      ASSERT_TRUE(parser.Push(absl::string_view(&byte, 1), &events).ok());
    }
    EXPECT_EQ(events, RecordedEvents());
  }
}

TEST(SseParserTest, AnEventComesOutAsSoonAsItIsComplete) {
  SseParser parser;
  std::vector<SseEvent> events;
  ASSERT_TRUE(parser.Push("data: a\r\n\r", &events).ok());
  EXPECT_THAT(events, ElementsAre(SseEvent{"", "a"}));
  ASSERT_TRUE(parser.Push("\ndata: b\r\n\r\n", &events).ok());
  EXPECT_THAT(events, ElementsAre(SseEvent{"", "a"}, SseEvent{"", "b"}));
}

TEST(SseParserTest, OneSpaceIsCutAndNamesDoNotOutliveTheirEvent) {
  EXPECT_THAT(Events("event:x\ndata:  two\n\ndata: next\n\n"),
              ElementsAre(SseEvent{"x", " two"}, SseEvent{"", "next"}));
  EXPECT_THAT(Events("event: x\n\ndata: y\n\n"), ElementsAre(SseEvent{"", "y"}));
  EXPECT_THAT(Events("event: x\nevent: y\ndata: z\n\n"), ElementsAre(SseEvent{"y", "z"}));
}

TEST(SseParserTest, WhatIsNoEventIsDropped) {
  EXPECT_THAT(Events(""), IsEmpty());
  EXPECT_THAT(Events("\n\n\r\r\n"), IsEmpty());
  EXPECT_THAT(Events("<html>\n\n"), IsEmpty());
  EXPECT_THAT(Events("Data: x\n\n data: y\n\n:data: z\n\n"), IsEmpty());
  EXPECT_THAT(Events("data: no end\n"), IsEmpty());
  // A byte order mark counts only at the start.
  EXPECT_THAT(Events("\n\xEF\xBB\xBF"
                     "data: x\n\n"),
              IsEmpty());
}

TEST(SseParserTest, LongLinesAndEventsEndTheStream) {
  for (const std::string& bad :
       {std::string(21, 'x'), absl::StrCat(":", std::string(20, 'x'), "\n"),
        std::string("data: 0123456789\ndata: 0123456789\n")}) {
    for (size_t split = 0; split <= bad.size(); ++split) {
      SseParser parser(20);
      std::vector<SseEvent> events;
      absl::Status status = parser.Push(absl::StrCat("data: a\n\n", bad.substr(0, split)), &events);
      if (status.ok()) status = parser.Push(bad.substr(split), &events);
      EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
      EXPECT_THAT(std::string(status.message()), HasSubstr("20 bytes"));
      EXPECT_EQ(parser.Push("\n\ndata: b\n\n", &events), status);
      EXPECT_THAT(events, ElementsAre(SseEvent{"", "a"}));
    }
  }
}

TEST(SseParserTest, ManyLinesAtTheLimitAreFine) {
  SseParser parser(20);
  std::vector<SseEvent> events;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(parser.Push("data: 01234567890123\n\n:4567890123456789012\n", &events).ok());
  }
  EXPECT_EQ(events.size(), 100u);
}

}  // namespace
}  // namespace ksearch
