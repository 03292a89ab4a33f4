#include "coordinator/llm/mailbox/mailbox_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "common/mutex.h"
#include "common/textproto.h"
#include "tests/fakes/eventually.h"

namespace ksearch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class MailboxClientTest : public testing::Test {
 protected:
  MailboxClientTest() {
    std::string pattern = "/tmp/ksearch-mailbox-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    options_.poll_interval = absl::Milliseconds(20);
    options_.settle_time = absl::Milliseconds(20);
    options_.max_answer_bytes = 1000;
    Start();
  }
  ~MailboxClientTest() override {
    client_.reset();
    std::filesystem::remove_all(root_);
  }

  void Start() {
    client_ =
        std::make_unique<MailboxClient>(*MailboxFolder::Create(root_), options_, Clock::Real());
  }
  void Ask(const std::string& call_id) {
    LlmRequest request;
    request.call_id = call_id;
    request.model = "any";
    request.system = "rules";
    request.user = "question of " + call_id;
    client_->Complete(request, [this, call_id](absl::StatusOr<LlmReply> reply) {
      MutexLock lock(&mu_);
      replies_.emplace(call_id, std::move(reply));
    });
  }
  // Writes in place, as people do.
  void Write(const std::string& file, const std::string& text) {
    std::ofstream(root_ + "/" + file) << text;
  }
  bool Has(const std::string& file) { return std::filesystem::exists(root_ + "/" + file); }
  absl::StatusOr<LlmReply> Reply(const std::string& call_id) {
    EXPECT_TRUE(Eventually([&] {
      MutexLock lock(&mu_);
      return replies_.contains(call_id);
    })) << "no reply to "
        << call_id;
    MutexLock lock(&mu_);
    const auto it = replies_.find(call_id);
    return it == replies_.end() ? absl::StatusOr<LlmReply>(absl::UnknownError("none")) : it->second;
  }
  size_t Replies() {
    MutexLock lock(&mu_);
    return replies_.size();
  }
  bool Parked(size_t count) {
    return Eventually([&] { return client_->ParkedCalls().size() == count; });
  }

  std::string root_;
  MailboxOptions options_;
  std::unique_ptr<MailboxClient> client_;
  Mutex mu_;
  std::map<std::string, absl::StatusOr<LlmReply>> replies_ ABSL_GUARDED_BY(mu_);
};

TEST_F(MailboxClientTest, TextAndJsonAnswersReachTheirCalls) {
  Ask("r/1");
  Ask("r/2");
  ASSERT_TRUE(Parked(2));
  EXPECT_THAT(*ReadFile(root_ + "/outbox/r.1.md", 1 << 20), HasSubstr("question of r/1"));
  Write("inbox/r.2.json",
        R"({"answer":"two","model":"m","usage":{"input_tokens":7,"output_tokens":3}})");
  Write("inbox/r.1.md", "one\n");
  const auto one = Reply("r/1");
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(one->text, "one\n");
  EXPECT_EQ(one->finish_reason, "stop");
  EXPECT_FALSE(one->usage_reported);
  const auto two = Reply("r/2");
  EXPECT_EQ(two->text, "two");
  EXPECT_EQ(two->model, "m");
  EXPECT_EQ(two->usage.input(), 7);
  EXPECT_EQ(two->usage.output(), 3);
  EXPECT_TRUE(Parked(0));
}

TEST_F(MailboxClientTest, MalformedAnswersAreMovedAsideAndThePromptStillWaits) {
  Ask("r/1");
  ASSERT_TRUE(Parked(1));
  int failed = 0;
  for (const std::string& bad : {std::string("{\"answer\": 3"), std::string("{}"),
                                 R"({"answer":")" + std::string(2000, 'x') + "\"}"}) {
    Write("inbox/r.1.json", bad);
    ++failed;
    ASSERT_TRUE(Eventually([&] {
      return !Has("inbox/r.1.json") &&
             Has(absl::StrCat("failed/r.1.json", failed > 1 ? absl::StrCat(".", failed) : "",
                              ".error.txt"));
    })) << bad;
  }
  EXPECT_EQ(Replies(), 0u);
  ASSERT_TRUE(Parked(1));
  Write("inbox/r.1.json", R"({"answer":"good"})");
  EXPECT_EQ(Reply("r/1")->text, "good");
}

TEST_F(MailboxClientTest, AnswerThatGrowsIsTakenWhole) {
  // Longer than a busy machine pauses between two lines.
  options_.settle_time = absl::Seconds(2);
  client_.reset();
  Start();
  Ask("r/1");
  ASSERT_TRUE(Parked(1));
  std::ofstream answer(root_ + "/inbox/r.1.md");
  std::string whole;
  for (int line = 0; line < 10; ++line) {
    answer << "line " << line << "\n" << std::flush;
    whole += absl::StrCat("line ", line, "\n");
    ASSERT_TRUE(Eventually([&] { return client_->ParkedCalls().empty(); }))
        << "an answer is on its way";
  }
  answer.close();
  EXPECT_EQ(Reply("r/1")->text, whole);
}

TEST_F(MailboxClientTest, NextLifeFindsPromptAndAnswer) {
  Ask("r/1");
  Ask("r/2");
  ASSERT_TRUE(Parked(2));
  const std::string prompt = *ReadFile(root_ + "/outbox/r.1.json", 1 << 20);
  client_.reset();
  EXPECT_EQ(Reply("r/1").status().code(), absl::StatusCode::kCancelled);
  {
    MutexLock lock(&mu_);
    replies_.clear();
  }
  Write("inbox/r.2.md", "given while nobody listened");
  Start();
  Ask("r/1");
  Ask("r/2");
  EXPECT_EQ(Reply("r/2")->text, "given while nobody listened");
  ASSERT_TRUE(Parked(1));
  EXPECT_EQ(*ReadFile(root_ + "/outbox/r.1.json", 1 << 20), prompt) << "asked once, not again";
  EXPECT_EQ(Replies(), 1u);
}

TEST_F(MailboxClientTest, AnswerTakenButNotStoredIsGivenAgain) {
  Ask("r/1");
  ASSERT_TRUE(Parked(1));
  Write("inbox/r.1.md", "answer");
  EXPECT_EQ(Reply("r/1")->text, "answer");
  {
    MutexLock lock(&mu_);
    replies_.clear();
  }
  client_.reset();  // as if it had been killed before the reply was committed
  Start();
  Ask("r/1");
  EXPECT_EQ(Reply("r/1")->text, "answer");
  EXPECT_FALSE(Has("outbox/r.1.json"));
}

TEST_F(MailboxClientTest, SecondAnswersDoNotPileUp) {
  Ask("r/1");
  ASSERT_TRUE(Parked(1));
  Write("inbox/r.1.md", "answer");
  EXPECT_EQ(Reply("r/1")->text, "answer");
  Write("inbox/r.1.md", "answer");
  EXPECT_TRUE(Eventually([&] { return !Has("inbox/r.1.md"); }));
  EXPECT_FALSE(Has("failed/r.1.md"));
  Write("inbox/r.1.md", "another");
  EXPECT_TRUE(Eventually([&] { return Has("failed/r.1.md"); }));
  EXPECT_EQ(Replies(), 1u);
}

TEST_F(MailboxClientTest, AnswersToOthersAreLeftAlone) {
  Write("inbox/someone.7.md", "not ours");
  Ask("r/1");
  ASSERT_TRUE(Parked(1));
  Write("inbox/r.1.md", "ours");
  EXPECT_EQ(Reply("r/1")->text, "ours");
  EXPECT_TRUE(Has("inbox/someone.7.md"));
}

TEST_F(MailboxClientTest, CallOfNoRunAsksNobody) {
  Ask("");
  EXPECT_THAT(Reply("")->text, HasSubstr(root_ + "/outbox"));
  EXPECT_THAT(client_->ParkedCalls(), IsEmpty());
}

TEST_F(MailboxClientTest, ManyCallsWaitAtOnce) {
  for (int i = 1; i <= 50; ++i) Ask(absl::StrCat("r/", i));
  ASSERT_TRUE(Parked(50));
  for (int i = 1; i <= 50; ++i) Write(absl::StrCat("inbox/r.", i, ".md"), absl::StrCat(i));
  for (int i = 1; i <= 50; ++i) EXPECT_EQ(Reply(absl::StrCat("r/", i))->text, absl::StrCat(i));
  EXPECT_THAT(client_->ParkedCalls(), IsEmpty());
}

}  // namespace
}  // namespace ksearch
