// A reply that its provider works on in the background outlives the coordinator that asked for it.
#include <gmock/gmock.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/textproto.h"
#include "coordinator/store/store.h"
#include "tests/fakes/eventually.h"
#include "tests/fakes/fault_server.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

class BackgroundReplyTest : public testing::Test {
 protected:
  BackgroundReplyTest()
      : server_([this](const std::string& request, int) { return Answer(request); }) {
    const auto init = ReadFile(LocalCluster::SourcePath("tests/integration/data/softmax/init.md"),
                               int64_t{1} << 20);
    if (!init.ok()) std::abort();
    google::protobuf::Value text;
    text.set_string_value(*init);
    if (!google::protobuf::util::MessageToJsonString(text, &init_json_).ok()) std::abort();
  }

  // The first request is accepted, and answered when the test says so; later ones are refused,
  // which ends the run.
  Fault Answer(const std::string& request) {
    int status = 200;
    std::string body;
    if (absl::StartsWith(request, "POST ") && posts_++ > 0) {
      status = 401;
    } else if (absl::StartsWith(request, "POST ")) {
      body = R"({"id":"resp_1","status":"queued"})";
    } else if (!absl::StartsWith(request, "GET /v1/responses/resp_1 ")) {
      status = 404;
    } else if (!ready_) {
      ++polls_;
      body = R"({"id":"resp_1","status":"in_progress"})";
    } else {
      body = absl::StrCat(R"({"id":"resp_1","status":"completed","model":"m","output":[{"type":)",
                          R"("message","content":[{"type":"output_text","text":)", init_json_,
                          R"(}]}],"usage":{"input_tokens":900,"output_tokens":400}})");
    }
    return {.silence = {}, .bytes = HttpReply(status, body), .padding_bytes = 0, .hold = false};
  }
  void Start() {
    cluster_.StartCoordinator(absl::StrCat(
        "providers { name: 'slow' openai_responses { base_url: '", server_.origin(),
        "/v1' default_model: 'm' background: true poll_interval { nanos: 50000000 } } ",
        "prices { model: 'm' rates { input: '1' output: '10' } } retry { max_attempts: 1 } }\n"));
  }
  bool PolledAgain() {
    const int seen = polls_;
    return Eventually([&] { return polls_ >= seen + 2; });
  }

  std::string init_json_;
  std::atomic<int> posts_{0};
  std::atomic<int> polls_{0};
  std::atomic<bool> ready_{false};
  FaultServer server_;
  LocalCluster cluster_;
};

TEST_F(BackgroundReplyTest, IsFetchedByTheNextLifeAndPaidForOnce) {
  Start();
  const CommandOutput started =
      cluster_.Cli({"run", "--task", "softmax_rows_f32", "--rounds", "2", "--provider", "slow",
                    "--budget-usd", "5", "--detach", "--without-workers"});
  ASSERT_EQ(started.exit.code, 0) << started.err;
  for (int life = 1; life <= 3; ++life) {
    ASSERT_TRUE(PolledAgain()) << "life " << life;
    cluster_.Kill("coordinator");
    Start();
  }
  ASSERT_TRUE(PolledAgain());
  EXPECT_EQ(posts_, 1);
  ready_ = true;
  EXPECT_EQ(cluster_.Cli({"watch", "last"}).exit.code, 4);  // the second question is refused
  EXPECT_EQ(posts_, 2);
  ASSERT_EQ(cluster_.Stop("coordinator"), 0);

  Store::Options options;
  options.path = cluster_.folder() + "/state/ksearch.db";
  const auto store = Store::Open(options);
  ASSERT_TRUE(store.ok()) << store.status();
  const auto run = (*store)->ResolveRun("last");
  ASSERT_TRUE(run.ok()) << run.status();
  const auto call = (*store)->ReadCall(*run + "/1");
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(call->lost_sends, 0);
  EXPECT_EQ(call->cost_nano, 900 * 1000 + 400 * 10'000);
  EXPECT_EQ((*store)->ReadLedger(*run)->front().nano_spent, call->cost_nano);
}

}  // namespace
}  // namespace ksearch
