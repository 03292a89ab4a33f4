#ifndef KSEARCH_COMMON_TRUSTED_PROGRAMS_H_
#define KSEARCH_COMMON_TRUSTED_PROGRAMS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "proto/job.pb.h"
#include "proto/task.pb.h"

namespace ksearch {

// Chooses which of a task's own programs a job runs. The job names them, not the worker, so that
// the oracle and the baseline of a job are the same on every worker.

// The first of a task's references or baselines in `language`. Null if there is none.
const v1::Sources* FindInLanguage(const google::protobuf::RepeatedPtrField<v1::Sources>& choices,
                                  v1::Language language);

// The one of a task's references or baselines that is used for candidates in `language`: the first
// in that language, otherwise the first of all. Null if there is none.
const v1::Sources* ChooseTrusted(const google::protobuf::RepeatedPtrField<v1::Sources>& choices,
                                 v1::Language language);

// Returns OK if the task can judge programs in `language`: they run on its device, and it has a
// reference. INVALID_ARGUMENT otherwise, after "<field>: ".
absl::Status CheckRunsTask(absl::string_view field, const v1::Task& task, v1::Language language);

// Sets `reference` and `baseline` of a job whose kind and candidate are set: the reference unless
// it only builds, the baseline where that is timed.
void NameTrustedPrograms(const v1::Task& task, v1::JobSpec* spec);

struct TrustedPrograms {
  const v1::Sources* reference = nullptr;  // null only for BUILD
  const v1::Sources* baseline = nullptr;   // null if the job compares with none
};

// Returns the programs that the job names, or those that NameTrustedPrograms would name if the job
// names none, as pointers into `task`. INVALID_ARGUMENT: the task lacks a program that the job
// names. FAILED_PRECONDITION: the task has no reference.
absl::StatusOr<TrustedPrograms> FindTrustedPrograms(const v1::Task& task, const v1::JobSpec& spec);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_TRUSTED_PROGRAMS_H_
