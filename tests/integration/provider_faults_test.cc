// A provider that does not work, as seen by people: what is said, how soon, and that nothing that
// is written down holds the key.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "tests/fakes/fault_server.h"
#include "tests/integration/local_cluster.h"

namespace ksearch {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kKey[] = "sk-verysecret-0123456789abcdef";

class ProviderFaultsTest : public testing::Test {
 protected:
  ProviderFaultsTest()
      : server_([](const std::string&, int) {
          return Fault{.silence = {},
                       .bytes = HttpReply(401, absl::StrCat(R"({"error":{"message":"no such key: )",
                                                            kKey, R"("}})")),
                       .padding_bytes = 0,
                       .hold = false};
        }) {
    // Outside of the cluster's folder, all of which is looked through.
    key_file_ = absl::StrCat(testing::TempDir(), "/provider_faults_key");
    std::ofstream(key_file_) << kKey;
    cluster_.StartCoordinator(absl::StrCat(
        "providers { name: \"wrong\" openai_chat { base_url: \"", server_.origin(),
        "/v1\" api_key_file: \"", key_file_, "\" default_model: \"m\" } }\n",
        "providers { name: \"keyless\" anthropic { api_key_env: \"KSEARCH_NO_SUCH_KEY\" } }\n"));
  }
  ~ProviderFaultsTest() override { std::filesystem::remove(key_file_); }

  void ExpectNoKeyWritten() const {
    int files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(cluster_.folder())) {
      if (!entry.is_regular_file() || entry.path().parent_path().filename() == "bin") continue;
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string text((std::istreambuf_iterator<char>(in)),
                             std::istreambuf_iterator<char>());
      EXPECT_EQ(text.find("verysecret"), std::string::npos) << entry.path();
      EXPECT_EQ(text.find("0123456789abcdef"), std::string::npos) << entry.path();
      ++files;
    }
    EXPECT_GE(files, 3);  // database, its log, the coordinator's log
  }

  FaultServer server_;
  std::string key_file_;
  LocalCluster cluster_;
};

TEST_F(ProviderFaultsTest, AWrongKeyEndsTheRunAtOnceAndIsWrittenNowhere) {
  const CommandOutput run =
      cluster_.Cli({"run", "--task", "softmax_rows_f32", "--provider", "wrong", "--rounds", "20"});
  EXPECT_NE(run.exit.code, 0);
  EXPECT_THAT(run.out + run.err, HasSubstr("check the API key in file"));
  EXPECT_THAT(run.out + run.err, Not(HasSubstr("verysecret")));
  EXPECT_EQ(server_.requests(), 1);
  ExpectNoKeyWritten();
}

TEST_F(ProviderFaultsTest, DoctorMakesOneCallAndSaysWhatToDo) {
  CommandOutput doctor = cluster_.Cli({"doctor", "--provider", "wrong"});
  EXPECT_EQ(doctor.exit.code, 3);
  EXPECT_THAT(doctor.out, HasSubstr("FIX"));
  EXPECT_THAT(doctor.out, HasSubstr("HTTP 401"));
  EXPECT_THAT(doctor.out, HasSubstr("-> check the API key in file"));
  EXPECT_EQ(server_.requests(), 1);
  doctor = cluster_.Cli({"doctor", "--provider", "keyless"});
  EXPECT_EQ(doctor.exit.code, 3);
  EXPECT_THAT(doctor.out, HasSubstr("KSEARCH_NO_SUCH_KEY is not set"));
  doctor = cluster_.Cli({"doctor", "--provider", "absent"});
  EXPECT_EQ(doctor.exit.code, 3);
  EXPECT_THAT(doctor.out, HasSubstr("known: "));
  ExpectNoKeyWritten();
}

}  // namespace
}  // namespace ksearch
