#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "common/mailbox/mailbox_folder.h"
#include "common/mailbox/mailbox_text.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

v1::MailboxPrompt Prompt(const std::string& call_id, int64_t created = 1'700'000'000) {
  v1::MailboxPrompt prompt;
  prompt.set_v(1);
  prompt.set_call_id(call_id);
  prompt.set_id(MailboxFolder::IdOf(call_id));
  prompt.set_run(call_id.substr(0, call_id.rfind('/')));
  prompt.mutable_created_at()->set_seconds(created);
  prompt.add_messages()->set_content("Make it faster.");
  prompt.set_reply_to("inbox/" + prompt.id() + ".md");
  return prompt;
}

class MailboxFolderTest : public testing::Test {
 protected:
  MailboxFolderTest() {
    std::string pattern = "/tmp/ksearch-mailbox-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  ~MailboxFolderTest() override { std::filesystem::remove_all(root_); }

  MailboxFolder Open() { return *MailboxFolder::Create(root_ + "/mailbox"); }
  void Write(const std::string& file, const std::string& text) {
    std::ofstream(root_ + "/mailbox/" + file) << text;
  }
  std::vector<std::string> Files(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(root_ + "/mailbox/" + folder)) {
      names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  std::vector<std::string> Waiting(const MailboxFolder& folder) {
    std::vector<std::string> ids;
    const auto entries = folder.List();
    EXPECT_TRUE(entries.ok()) << entries.status();
    for (const v1::MailboxEntry& entry : *entries) ids.push_back(entry.prompt().id());
    return ids;
  }

  std::string root_;
};

TEST_F(MailboxFolderTest, PromptIsThereForProgramsAndForPeople) {
  const MailboxFolder folder = Open();
  ASSERT_TRUE(folder.Publish(Prompt("softmax-1a/3")).ok());
  EXPECT_THAT(Files("outbox"), ElementsAre("softmax-1a.3.json", "softmax-1a.3.md"));
  const std::string markdown = *ReadFile(root_ + "/mailbox/outbox/softmax-1a.3.md", 1 << 20);
  EXPECT_THAT(markdown, HasSubstr("Make it faster."));
  EXPECT_THAT(markdown, HasSubstr("inbox/softmax-1a.3.md"));
  EXPECT_EQ(folder.Read("softmax-1a/3")->prompt().messages(0).content(), "Make it faster.");
  EXPECT_EQ(folder.Read("soft")->prompt().id(), "softmax-1a.3");
}

TEST_F(MailboxFolderTest, PromptIsPublishedOnceEvenIfSomebodyClaimedIt) {
  const MailboxFolder folder = Open();
  ASSERT_TRUE(folder.Publish(Prompt("r/1")).ok());
  std::filesystem::create_directory(root_ + "/mailbox/claimed/ann");
  std::filesystem::rename(root_ + "/mailbox/outbox/r.1.json",
                          root_ + "/mailbox/claimed/ann/r.1.json");
  ASSERT_TRUE(folder.Publish(Prompt("r/1")).ok());
  EXPECT_THAT(Files("outbox"), ElementsAre("r.1.md"));
  const auto entries = *folder.List();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].claimed_by(), "ann");
}

TEST_F(MailboxFolderTest, ListsTheOldestFirstAndFindsPrefixes) {
  const MailboxFolder folder = Open();
  ASSERT_TRUE(folder.Publish(Prompt("run/2", 20)).ok());
  ASSERT_TRUE(folder.Publish(Prompt("run/10", 30)).ok());
  ASSERT_TRUE(folder.Publish(Prompt("run/1", 40)).ok());
  EXPECT_THAT(Waiting(folder), ElementsAre("run.2", "run.10", "run.1"));
  EXPECT_EQ(folder.Read("run.1")->prompt().id(), "run.1") << "a whole id wins over prefixes";
  const auto ambiguous = folder.Read("run");
  EXPECT_EQ(ambiguous.status().code(), absl::StatusCode::kInvalidArgument);
  const auto missing = folder.Read("other");
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.status().message()), HasSubstr("run.2"));
}

TEST_F(MailboxFolderTest, AnswerGoesFromInboxToDoneWithItsPrompt) {
  const MailboxFolder folder = Open();
  ASSERT_TRUE(folder.Publish(Prompt("r/1")).ok());
  v1::MailboxAnswer answer;
  answer.set_id("r/1");
  answer.set_answer("faster");
  EXPECT_EQ(*folder.Answer(answer), "r.1");
  EXPECT_EQ(folder.Answer(answer).status().code(), absl::StatusCode::kAlreadyExists);
  const auto inbox = *folder.Inbox();
  ASSERT_EQ(inbox.size(), 1u);
  EXPECT_TRUE(inbox[0].json);
  EXPECT_FALSE(folder.Taken("r.1").has_value());
  ASSERT_TRUE(folder.Take(inbox[0]).ok());
  EXPECT_THAT(Files("inbox"), IsEmpty());
  EXPECT_THAT(Files("outbox"), IsEmpty());
  EXPECT_THAT(Files("done"), ElementsAre("r.1.answer.json", "r.1.json", "r.1.md"));
  const auto content = folder.ReadTaken(*folder.Taken("r.1"));
  EXPECT_EQ(ParseAnswer("r.1", true, *content)->answer(), "faster");
  EXPECT_EQ(folder.Answer(answer).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(MailboxFolderTest, NamesSayWhatAnAnswerIs) {
  const MailboxFolder folder = Open();
  for (const char* name : {"a.1.md", "a.2.txt", "a.3.json", "a.4.answer.json", "a.5.answer.md"}) {
    Write(std::string("inbox/") + name, "x");
  }
  for (const char* name : {".a.6.md", "a.7.md.tmp", "a.8.md~", "a.9.pdf", "a.10.md.tmp-12"}) {
    Write(std::string("inbox/") + name, "x");
  }
  std::vector<std::string> ids;
  const auto inbox = folder.Inbox();
  ASSERT_TRUE(inbox.ok());
  for (const auto& delivery : *inbox) ids.push_back(delivery.id);
  EXPECT_THAT(ids, ElementsAre("a.1", "a.2", "a.3", "a.4", "a.5"));
}

TEST_F(MailboxFolderTest, ALinkIsNotFollowed) {
  const MailboxFolder folder = Open();
  std::filesystem::create_symlink("/etc/passwd", root_ + "/mailbox/inbox/r.1.md");
  const auto inbox = *folder.Inbox();
  ASSERT_EQ(inbox.size(), 1u);
  EXPECT_EQ(folder.ReadInbox(inbox[0], 1 << 20).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(MailboxFolderTest, RejectedAnswersKeepTheirReasonAndEachOther) {
  const MailboxFolder folder = Open();
  for (int i = 0; i < 2; ++i) {
    Write("inbox/r.1.md", "");
    ASSERT_TRUE(folder.Reject((*folder.Inbox())[0], "the answer is empty").ok());
  }
  EXPECT_THAT(Files("failed"),
              ElementsAre("r.1.md", "r.1.md.2", "r.1.md.2.error.txt", "r.1.md.error.txt"));
  EXPECT_EQ(*ReadFile(root_ + "/mailbox/failed/r.1.md.error.txt", 100), "the answer is empty\n");
}

TEST_F(MailboxFolderTest, IsFoundInAStateFolderWhereverThatIs) {
  ASSERT_TRUE(Open().Publish(Prompt("r/1")).ok());
  std::filesystem::rename(root_ + "/mailbox", root_ + "/elsewhere");
  EXPECT_EQ(MailboxFolder::Find(root_).status().code(), absl::StatusCode::kNotFound);
  std::filesystem::create_directory(root_ + "/state");
  std::filesystem::rename(root_ + "/elsewhere", root_ + "/state/mailbox");
  const auto folder = MailboxFolder::Find(root_ + "/state");
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_THAT(Waiting(*folder), ElementsAre("r.1"));
}

TEST(MailboxText, PlainTextIsTheAnswer) {
  const auto answer = ParseAnswer("r.1", false, "\xEF\xBB\xBFint x;\n");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->answer(), "int x;\n");
  EXPECT_EQ(answer->id(), "r.1");
}

TEST(MailboxText, JsonOfOtherToolsIsUnderstood) {
  const auto answer = ParseAnswer(
      "r.1", true,
      R"({"id":"r.1","answer":"code","answered_by":"agent","usage":null,"cost_usd":null})");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->answer(), "code");
  EXPECT_FALSE(answer->has_usage());
}

TEST(MailboxText, WhatIsWrongIsSaid) {
  const auto why = [](bool json, const std::string& text) {
    return std::string(ParseAnswer("r.1", json, text).status().message());
  };
  EXPECT_THAT(why(false, " \n"), HasSubstr("empty"));
  EXPECT_THAT(why(false, "ab\xFFz"), HasSubstr("byte 2"));
  EXPECT_THAT(why(false, "a\xE2\x82"), HasSubstr("byte 1"));
  EXPECT_THAT(why(true, "{\"answer\": \"x"), HasSubstr("JSON"));
  EXPECT_THAT(why(true, "[]"), HasSubstr("JSON"));
  EXPECT_THAT(why(true, "{}"), HasSubstr("\"answer\""));
  EXPECT_THAT(why(true, R"({"id":"r.2","answer":"x"})"), HasSubstr("r.2"));
  EXPECT_THAT(why(true, R"({"answer":"x","finish_reason":"bored"})"), HasSubstr("finish_reason"));
  EXPECT_THAT(why(true, R"({"answer":"x","usage":{"input_tokens":-1}})"), HasSubstr("negative"));
  EXPECT_EQ(why(false, "\xF0\x9F\x98\x80"), "");
}

}  // namespace
}  // namespace ksearch
