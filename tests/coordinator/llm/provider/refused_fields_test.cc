#include "coordinator/llm/provider/refused_fields.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ksearch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kBody[] =
    R"({"effort":"high","model":"m","stream":true,"stream_options":{"pad":false,"usage":true}})";

absl::Status Refusal(const char* code, const char* parameter, const char* message) {
  absl::Status status = absl::InvalidArgumentError("HTTP 400");
  NoteRefusal(code, parameter, message, &status);
  return status;
}

class RefusedFieldsTest : public testing::Test {
 protected:
  // Returns true if the failure of kBody was learned from.
  bool Learn(const absl::Status& failure) {
    return fields_.Learn("m", fields_.Without("m", kBody).optional, failure);
  }
  std::string Sent(const std::string& model = "m") { return fields_.Without(model, kBody).json; }

  RefusedFields fields_{{"stream_options.pad", "stream_options", "effort", "absent"}};
};

TEST_F(RefusedFieldsTest, WhatAModelRefusesIsLeftOutForThatModel) {
  EXPECT_THAT(fields_.Without("m", kBody).optional,
              ElementsAre("stream_options.pad", "stream_options", "effort"));
  EXPECT_TRUE(Learn(Refusal("unsupported_parameter", "effort", "no")));
  EXPECT_EQ(Sent(), R"({"model":"m","stream":true,"stream_options":{"pad":false,"usage":true}})");
  EXPECT_EQ(Sent("other"), kBody);
  // The second request did not have the field, so there is no third one.
  EXPECT_FALSE(Learn(Refusal("unsupported_parameter", "effort", "no")));
}

TEST_F(RefusedFieldsTest, NamesAreFoundInMessages) {
  for (const char* message :
       {"Unsupported parameter: 'effort' is not supported with this model.",
        R"(Invalid JSON payload received. Unknown name "effort": Cannot find field.)",
        R"([{"type":"extra_forbidden","loc":["body","effort"],"msg":"Extra inputs"}])",
        "This model does not support the effort parameter.",
        "Unrecognized request argument supplied: effort"}) {
    RefusedFields fields({"effort"});
    EXPECT_TRUE(fields.Learn("m", {"effort"}, Refusal("", "", message))) << message;
  }
}

TEST_F(RefusedFieldsTest, APartIsLeftOutAlone) {
  EXPECT_TRUE(Learn(Refusal("unknown_parameter", "stream_options.pad", "")));
  EXPECT_EQ(Sent(),
            R"({"effort":"high","model":"m","stream":true,"stream_options":{"usage":true}})");
  // Without these the reply is not streamed, and includes its usage.
  EXPECT_TRUE(Learn(Refusal("unknown_parameter", "stream_options", "")));
  EXPECT_EQ(Sent(), R"({"effort":"high","model":"m"})");
}

TEST_F(RefusedFieldsTest, OtherFailuresTeachNothing) {
  EXPECT_FALSE(Learn(absl::InvalidArgumentError("effort")));
  EXPECT_FALSE(Learn(Refusal("unsupported_value", "effort", "'effort' does not support 'max'")));
  EXPECT_FALSE(Learn(Refusal("invalid_request", "effort", "effort is too high")));
  EXPECT_FALSE(Learn(Refusal("unsupported_parameter", "model", "")));
  EXPECT_FALSE(Learn(Refusal("", "", "efforts, reeffort and effort_2 are not supported")));
  EXPECT_EQ(Sent(), kBody);
}

TEST_F(RefusedFieldsTest, WhatIsNoObjectIsSentAsItIs) {
  EXPECT_EQ(fields_.Without("m", "text").json, "text");
  EXPECT_THAT(fields_.Without("m", "[]").optional, IsEmpty());
}

}  // namespace
}  // namespace ksearch
