#include "common/identity.h"

#include <algorithm>
#include <vector>

#include "common/canonical_encoding.h"
#include "common/digest.h"
#include "common/identity_v1.h"

namespace ksearch {

std::string CandidateId(const v1::Sources& sources) {
  std::vector<const v1::SourceFile*> files;
  for (const v1::SourceFile& file : sources.files()) files.push_back(&file);
  std::sort(files.begin(), files.end(),
            [](const v1::SourceFile* a, const v1::SourceFile* b) { return a->path() < b->path(); });
  CanonicalBytes bytes;
  bytes.Add("candidate/1").Add(int64_t{sources.language()});
  for (const v1::SourceFile* file : files) bytes.Add(file->path()).Add(file->content());
  return bytes.Sha256();
}

std::string JobId(const v1::JobSpec& spec) { return CanonicalName("job/2", spec); }

std::string TaskDigest(const v1::Task& task) { return CanonicalName("task/2", task); }

bool IsJobName(const std::string& name, const v1::JobSpec& spec) {
  // The old names cover neither a platform nor the task's programs that a job runs.
  const bool nameable = !spec.has_platform() && !spec.has_reference() && !spec.has_baseline();
  return name == JobId(spec) || (nameable && name == JobIdV1(spec));
}

bool IsTaskName(const std::string& name, const v1::Task& task) {
  return name == TaskDigest(task) || name == TaskDigestV1(task);
}

}  // namespace ksearch
