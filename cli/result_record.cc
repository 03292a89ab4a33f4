#include "cli/result_record.h"

#include <cmath>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/source_files.h"
#include "common/identity.h"
#include "common/language.h"
#include "common/run_facts.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "google/protobuf/util/json_util.h"

namespace ksearch {
namespace {

constexpr char kRecord[] = "record.json";
constexpr int64_t kMaxRecordBytes = int64_t{1} << 20;
constexpr char kImproved[] = "improved";

std::string PathOf(const std::string& folder) {
  return (std::filesystem::path(folder) / kRecord).string();
}

// Fields of one record.
class Fields {
 public:
  Fields(const google::protobuf::Struct& record, std::string path)
      : record_(record), path_(std::move(path)) {}

  absl::StatusOr<std::string> Text(const std::string& name) const {
    const google::protobuf::Value* value = Find(name);
    if (value == nullptr || value->string_value().empty()) {
      return absl::InvalidArgumentError(absl::StrCat(path_, ": \"", name, "\" must be text"));
    }
    return value->string_value();
  }
  absl::StatusOr<double> Ratio(const std::string& name) const {
    const google::protobuf::Value* value = Find(name);
    if (value == nullptr || !(value->number_value() > 0) || !std::isfinite(value->number_value())) {
      return absl::InvalidArgumentError(
          absl::StrCat(path_, ": \"", name, "\" must be a number above 0"));
    }
    return value->number_value();
  }

 private:
  const google::protobuf::Value* Find(const std::string& name) const {
    const auto found = record_.fields().find(name);
    return found == record_.fields().end() ? nullptr : &found->second;
  }

  const google::protobuf::Struct& record_;
  const std::string path_;
};

}  // namespace

bool HasResultRecord(const std::string& folder) {
  std::error_code error;
  return std::filesystem::exists(PathOf(folder), error);
}

absl::StatusOr<google::protobuf::Struct> ReadResultRecord(const std::string& folder) {
  const std::string path = PathOf(folder);
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxRecordBytes));
  google::protobuf::Struct record;
  if (!google::protobuf::util::JsonStringToMessage(text, &record).ok()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": is not a JSON object"));
  }
  return record;
}

absl::StatusOr<RecordedResult> ReadRecordedResult(const std::string& folder) {
  const std::string path = PathOf(folder);
  ASSIGN_OR_RETURN(const google::protobuf::Struct record, ReadResultRecord(folder));
  const Fields fields(record, path);
  RecordedResult recorded;
  ASSIGN_OR_RETURN(recorded.task, fields.Text("task"));
  ASSIGN_OR_RETURN(recorded.candidate_id, fields.Text("candidate_id"));
  ASSIGN_OR_RETURN(const std::string verdict, fields.Text("verdict"));
  if (verdict != kImproved) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": nothing is claimed: \"verdict\" is ", verdict));
  }

  ASSIGN_OR_RETURN(const std::string file, fields.Text("file"));
  if (absl::StrContains(file, '/')) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": \"file\" must name a file of the same folder"));
  }
  ASSIGN_OR_RETURN(const std::string named, fields.Text("language"));
  const LanguageFacts* const language = FindLanguage(named);
  if (language == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": \"language\" ", named, " is not a language of ksearch"));
  }
  recorded.sources.set_language(language->id);
  const std::string program = (std::filesystem::path(folder) / file).string();
  ASSIGN_OR_RETURN(const auto files, ReadSourceFiles({program}));
  recorded.sources.mutable_files()->Add(files.begin(), files.end());
  if (CandidateId(recorded.sources) != recorded.candidate_id) {
    return absl::FailedPreconditionError(
        absl::StrCat(program, " is not the program of the record: its candidate id is ",
                     CandidateId(recorded.sources), ", and not ", recorded.candidate_id));
  }

  v1::Comparison& comparison = *recorded.claim.add_comparisons();
  comparison.set_rival_id(kBaselineRival);
  comparison.set_verdict(v1::Comparison::IMPROVED);
  ASSIGN_OR_RETURN(const double speedup, fields.Ratio("speedup"));
  ASSIGN_OR_RETURN(const double low, fields.Ratio("low"));
  ASSIGN_OR_RETURN(const double high, fields.Ratio("high"));
  comparison.set_log_speedup(std::log(speedup));
  comparison.set_ci_low(std::log(low));
  comparison.set_ci_high(std::log(high));
  v1::DeviceFingerprint& device = *recorded.claim.mutable_device();
  ASSIGN_OR_RETURN(*device.mutable_name(), fields.Text("device"));
  ASSIGN_OR_RETURN(*device.mutable_harness_version(), fields.Text("harness_version"));
  ASSIGN_OR_RETURN(*device.mutable_architecture(), fields.Text("architecture"));
  return recorded;
}

}  // namespace ksearch
