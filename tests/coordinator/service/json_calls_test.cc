#include "coordinator/service/json_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/fake_store.h"

namespace ksearch {
namespace {

using testing::HasSubstr;

class JsonCallsTest : public testing::Test {
 protected:
  JsonCallsTest() : service_(Parts()), calls_(&service_) {
    RunRow row;
    row.run_id = "r1";
    row.status.set_run_id("r1");
    row.status.set_task("axpy");
    EXPECT_TRUE(store_.CreateRun(row).ok());
    StepCommit step;
    step.run_id = "r1";
    step.status = row.status;
    step.events.emplace_back().set_text("<b>one</b>");
    step.events.emplace_back().set_text("two");
    EXPECT_TRUE(store_.CommitStep(step).ok());
  }
  SearchService::Parts Parts() {
    SearchService::Parts parts = {};
    parts.store = &store_;
    return parts;
  }

  FakeStore store_;
  SearchService service_;
  JsonCalls calls_;
};

TEST_F(JsonCallsTest, AnswersAsTheRpcDoes) {
  EXPECT_THAT(calls_.Call("ListRuns", "").value(), HasSubstr("\"task\":\"axpy\""));
  const std::string events =
      calls_.Call("ListEvents", "{\"run_id\": \"r1\", \"after_seq\": \"1\"}").value();
  EXPECT_THAT(events, HasSubstr("two"));
  EXPECT_EQ(events.find("one"), std::string::npos);
}

TEST_F(JsonCallsTest, NumbersMayBeTexts) {
  const std::string events =
      calls_.Call("ListEvents", "{\"run_id\": \"r1\", \"limit\": \"1\"}").value();
  EXPECT_EQ(events.find("two"), std::string::npos);
}

TEST_F(JsonCallsTest, SaysWhatIsWrong) {
  EXPECT_EQ(calls_.Call("Nothing", "").status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(calls_.Call("Nothing", "").status().message()), HasSubstr("ListRuns"));
  // Needs the caller's connection.
  EXPECT_EQ(calls_.Call("CancelJob", "").status().code(), absl::StatusCode::kNotFound);
  for (const char* json : {"{\"run\": \"r1\"}", "{", "[]", "7", "{\"run_id\": {}}"}) {
    const absl::Status status = calls_.Call("ListEvents", json).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << json;
    EXPECT_THAT(std::string(status.message()), HasSubstr("ListEventsRequest")) << json;
  }
  EXPECT_EQ(calls_.Call("ListEvents", "{\"run_id\": \"none\"}").status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace ksearch
