#include "gpu_worker/verifier/warm/warm_stage.h"

#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "common/digest.h"
#include "common/disk_space.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "gpu_worker/verifier/dialogue/program_image.h"
#include "gpu_worker/verifier/harness_constants.h"
#include "gpu_worker/verifier/tensors/workload_case.h"
#include "gpu_worker/verifier/warm/folder_watch.h"
#include "gpu_worker/verifier/warm/triton_facts.h"

namespace ksearch {
namespace {

// The limit of what a program compiles and its compilers write meanwhile; half of the bytes can be
// kept.
constexpr FolderWatch::Limits kMostWritten = {int64_t{2} << 30, 200'000};

// Part of what decides what is compiled: the path under which programs are shown.
constexpr char kKindOfKey[] = "shown as /program";

// The artifact as it lies in an entry.
v1::Artifact InEntry(const v1::Artifact& artifact, const WarmFolders::Entry& entry) {
  v1::Artifact moved = artifact;
  moved.set_path(entry.path);
  moved.set_sha256(entry.sha256);
  moved.set_main_file(absl::StrCat(WarmFolders::kProgram, "/", artifact.main_file()));
  *moved.mutable_runner() = WarmStage::RunnerOf(artifact);
  return moved;
}

// Everything that decides what is compiled, but for the workloads and the device, of which there is
// one.
std::string ProgramKey(const v1::Artifact& artifact, const std::string& task_sha256) {
  const std::map<std::string, std::string> environment(artifact.runner().environment().begin(),
                                                       artifact.runner().environment().end());
  CanonicalBytes bytes;
  bytes.Add(kKindOfKey).Add(artifact.sha256()).Add(artifact.main_file()).Add(task_sha256);
  for (const std::string& word : artifact.runner().argv()) bytes.Add(word);
  for (const auto& [name, value] : environment) bytes.Add(name).Add(value);
  return bytes.Sha256();
}

// A compiler that lacks this little says so in ways of its own.
constexpr int64_t kLeastSpaceBytes = int64_t{16} << 20;

bool IsFull(const std::string& folder) {
  const absl::StatusOr<DiskSpace> disk = DiskSpaceOf(folder);
  return disk.ok() && disk->free_bytes < kLeastSpaceBytes;
}

}  // namespace

v1::RunnerCommand WarmStage::RunnerOf(const v1::Artifact& artifact) {
  v1::RunnerCommand runner = artifact.runner();
  // Compilers find their folders by the environment.
  for (const auto& [variable, folder] : artifact.runner().compiled_folders()) {
    (*runner.mutable_environment())[variable] =
        absl::StrCat(ProgramImage::kShownAs, "/", WarmFolders::kCompiled, "/", folder);
  }
  return runner;
}

absl::StatusOr<WarmStage::Warmed> WarmStage::Warm(const v1::VerifierRequest& request,
                                                  const v1::Artifact& artifact,
                                                  const v1::Limits& limits, absl::Duration time) {
  if (folders_ == nullptr) {
    return absl::FailedPreconditionError(
        "a program compiles as it is called first, and this verifier has no state_dir to keep it");
  }
  const std::string program = ProgramKey(artifact, request.task_sha256());
  const std::set<std::string> workloads(request.job().workload_uuids().begin(),
                                        request.job().workload_uuids().end());
  Warmed warmed;
  if (const auto found = folders_->Find(program, workloads); found.has_value()) {
    warmed.artifact = InEntry(artifact, *found);
    // Damaged ones are made anew.
    if (ProgramImage::Open(warmed.artifact).ok()) {
      warmed.kernels = TritonFacts(found->compiled());
      return warmed;
    }
    folders_->Drop(*found);
  }
  const absl::Time start = bench_.clock().SteadyNow();
  // Opened for its SHA-256: what is copied must be what was built.
  RETURN_IF_ERROR(ProgramImage::Open(artifact).status());
  std::vector<std::string> names;
  for (const auto& [variable, folder] : artifact.runner().compiled_folders()) {
    names.push_back(folder);
  }
  ASSIGN_OR_RETURN(WarmFolders::Entry entry,
                   folders_->Make(program, workloads, artifact.path(), names));
  RETURN_IF_ERROR(CallOnce(request, InEntry(artifact, entry), limits, time, &warmed));
  LOG(INFO) << "msg=\"warmed\" program=" << artifact.id() << " workloads=" << workloads.size()
            << " time=" << bench_.clock().SteadyNow() - start
            << " outcome=" << v1::Outcome_Name(warmed.ending.outcome);
  if (!warmed.ending.passed()) return warmed;
  if (const absl::Status kept = folders_->Keep(&entry); absl::IsFailedPrecondition(kept)) {
    warmed.workload_uuid.clear();
    warmed.ending = {v1::OUTCOME_COMPILE_LIMIT,
                     absl::StrCat("what the program compiled cannot be kept: ",
                                  absl::StrReplaceAll(kept.message(), {{entry.path + "/", ""}}))};
    return warmed;
  } else if (!kept.ok()) {
    return kept;
  }
  warmed.artifact = InEntry(artifact, entry);
  warmed.kernels = TritonFacts(entry.compiled());
  return warmed;
}

absl::Status WarmStage::CallOnce(const v1::VerifierRequest& request, const v1::Artifact& artifact,
                                 const v1::Limits& limits, absl::Duration time, Warmed* warmed) {
  ASSIGN_OR_RETURN(const ProgramImage program, ProgramImage::Open(artifact));
  ASSIGN_OR_RETURN(std::unique_ptr<RunnerLink> link,
                   bench_.starter().StartWarm(program, WarmFolders::kCompiled, limits));
  const Clock& clock = bench_.clock();
  const absl::Time deadline = clock.SteadyNow() + time;
  Ending& ending = warmed->ending;
  // Extensions in C++ are compiled while a program is loaded.
  ending = link->Load(program, deadline);
  const Seed seed = Seed::Fresh();
  const std::string written =
      absl::StrCat(link->folder() == nullptr ? artifact.path() : link->folder()->path(), "/",
                   WarmFolders::kCompiled);
  FolderWatch watch(written, kMostWritten, [&link] { link->Kill(); });
  for (const std::string& uuid : request.job().workload_uuids()) {
    if (!ending.passed()) break;
    warmed->workload_uuid = uuid;
    ASSIGN_OR_RETURN(const v1::Workload* workload, FindWorkload(request.task(), uuid));
    ASSIGN_OR_RETURN(const auto made,
                     bench_.Case(request.task(), request.task_sha256(), *workload, seed));
    ASSIGN_OR_RETURN(const std::shared_ptr<BufferSets> buffers, bench_.Buffers(made, 1, "gate"));
    const std::vector<MapPacket> packets = buffers->Map(1);
    buffers->Prepare({{0, 0}}, RandomUint64());
    ending = link->Map(packets, deadline);
    if (ending.passed()) ending = link->RunBatch(std::vector<int>{0}, deadline).ending;
  }
  if (ending.outcome == v1::OUTCOME_TIMEOUT) {
    absl::StrAppend(&ending.message, ": what is compiled has ", absl::FormatDuration(time),
                    " (limits.build_time; --build-time of eval)");
  }
  if (watch.Finish()) {
    ending = {v1::OUTCOME_COMPILE_LIMIT,
              absl::StrCat("the program compiles more than ", kMostWritten.bytes >> 20, " MiB or ",
                           kMostWritten.entries, " files")};
  } else if (!ending.passed() && IsFull(written)) {
    // Far less than it may write.
    ending.message = absl::StrCat("the disk of ", written, " is full: ", ending.message);
    ending.machine_failed = true;
  }
  const std::shared_ptr<ProgramSlot> slot = link->folder();
  link.reset();
  if (slot == nullptr || !ending.passed()) return absl::OkStatus();
  return slot->MoveWritten(absl::StrCat(artifact.path(), "/", WarmFolders::kCompiled));
}

}  // namespace ksearch
