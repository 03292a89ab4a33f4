#ifndef KSEARCH_TESTS_FAKES_FAKE_BUILDER_H_
#define KSEARCH_TESTS_FAKES_FAKE_BUILDER_H_

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/folder_digest.h"
#include "gpu_worker/build/builder.h"

namespace ksearch {

// "Builds" by copying the first source into a file. A source that begins with the name of an
// outcome, such as "COMPILE_ERROR", ends with it; one with "BROKEN_WORKER" gives an error status. A
// delayed build has "delayed " before the source, and fails if that contains "UNDELAYABLE"; one
// with a line table has "lined " and "UNLINEABLE". For "FOLDER ..." it makes a folder with this
// text as deep/main.py, and a command that loads it. Thread-safe.
class FakeBuilder : public Builder {
 public:
  explicit FakeBuilder(std::string folder) : folder_(std::move(folder)) {}

  absl::StatusOr<BuildResult> Build(const BuildRequest& request, std::stop_token stop) override {
    const int build = ++builds_;
    if (during_build) during_build(stop);
    if (stop.stop_requested()) return absl::CancelledError("cancelled");
    BuildResult result;
    result.report.set_architecture(request.architecture);
    std::string text = request.sources.files(0).content();
    if (request.variant == BuildVariant::kDelayed) {
      text = absl::StrCat(absl::StrContains(text, "UNDELAYABLE") ? "COMPILE_ERROR with " : "",
                          "delayed ", text);
    }
    if (request.variant == BuildVariant::kLined) {
      text = absl::StrCat(absl::StrContains(text, "UNLINEABLE") ? "COMPILE_ERROR with " : "",
                          "lined ", text);
    }
    if (absl::StartsWith(text, "BROKEN_WORKER")) return absl::UnavailableError("no compiler");
    const std::string word = text.substr(0, text.find_first_of(" \n"));
    if (v1::Outcome_Parse("OUTCOME_" + word, &result.outcome)) {
      result.message = text;
      return result;
    }
    result.outcome = v1::OUTCOME_PASSED;
    result.artifact_path = absl::StrCat(folder_, "/object-", build);
    if (word == "FOLDER") {
      std::filesystem::create_directories(result.artifact_path + "/deep");
      std::ofstream(result.artifact_path + "/deep/main.py") << text;
      result.report.set_artifact_sha256(*FolderSha256(result.artifact_path, 1 << 20));
      result.loading.set_main_file("deep/main.py");
      result.loading.mutable_runner()->add_argv("/bin/interpreter");
      result.loading.mutable_load_time()->set_seconds(7);
      return result;
    }
    std::ofstream(result.artifact_path) << text;
    result.report.set_artifact_sha256(Sha256Hex(text));
    result.report.set_artifact_bytes(static_cast<int64_t>(text.size()));
    return result;
  }
  // The program's first file is what it prints.
  absl::StatusOr<ProgramDescription> Describe(const BuildRequest& request,
                                              std::stop_token /*stop*/) override {
    ProgramDescription description;
    description.outcome = v1::OUTCOME_PASSED;
    description.text = request.sources.files(0).content();
    return description;
  }
  std::string fingerprint() const override { return fingerprint_text; }

  int builds() const { return builds_; }

  // Set before use.
  std::function<void(std::stop_token)> during_build;
  std::string fingerprint_text = "fake 1";

 private:
  const std::string folder_;
  std::atomic<int> builds_{0};
};

}  // namespace ksearch

#endif  // KSEARCH_TESTS_FAKES_FAKE_BUILDER_H_
