#include "gpu_worker/session/result_spool.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/digest.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

// A coordinator refuses larger results.
constexpr size_t kMaxResultBytes = 8 << 20;
constexpr int64_t kMaxFileBytes = int64_t{16} << 20;
constexpr size_t kDigestBytes = 64;
constexpr absl::string_view kSuffix = ".result";

// File: 64 hex digits of the SHA-256 of the rest, a line feed, a serialized RecordResultRequest.
absl::StatusOr<v1::RecordResultRequest> ReadResult(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string content, ReadFile(path, kMaxFileBytes));
  if (content.size() <= kDigestBytes || content[kDigestBytes] != '\n') {
    return absl::DataLossError("too short");
  }
  const absl::string_view body = absl::string_view(content).substr(kDigestBytes + 1);
  if (Sha256Hex(body) != absl::string_view(content).substr(0, kDigestBytes)) {
    return absl::DataLossError("checksum does not match");
  }
  v1::RecordResultRequest request;
  if (!request.ParseFromArray(body.data(), static_cast<int>(body.size()))) {
    return absl::DataLossError("not a result");
  }
  return request;
}

void Rename(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) {
    LOG(WARNING) << "msg=\"cannot set spool file aside\" error=\""
                 << ErrnoStatus(errno, absl::StrCat("rename ", from)).message() << "\"";
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<ResultSpool>> ResultSpool::Open(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return ErrnoStatus(error.value(), absl::StrCat("create ", folder));
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (absl::StrContains(entry.path().filename().string(), ".tmp-")) {
      std::error_code ignored;
      std::filesystem::remove(entry.path(), ignored);
    }
  }
  if (error) return ErrnoStatus(error.value(), absl::StrCat("list ", folder));
  return std::unique_ptr<ResultSpool>(new ResultSpool(folder));
}

// The coordinator chooses lease ids: they are never used as a path.
std::string ResultSpool::PathOf(const std::string& lease_id) const {
  return absl::StrCat(folder_, "/", Sha256Hex(lease_id).substr(0, 32), kSuffix);
}

absl::Status ResultSpool::Put(const v1::RecordResultRequest& request) {
  const std::string body = request.SerializeAsString();
  if (body.size() > kMaxResultBytes) {
    return absl::OutOfRangeError(absl::StrCat("the result of job ", request.result().job_id(),
                                              " has ", body.size(), " bytes; at most ",
                                              kMaxResultBytes, " are allowed"));
  }
  return WriteFileAtomically(PathOf(request.lease_id()), absl::StrCat(Sha256Hex(body), "\n", body));
}

void ResultSpool::Remove(const std::string& lease_id) {
  std::error_code ignored;  // a result that stays is sent again and answered again
  std::filesystem::remove(PathOf(lease_id), ignored);
}

void ResultSpool::SetAside(const std::string& lease_id) {
  const std::string path = PathOf(lease_id);
  Rename(path, absl::StrCat(path, ".refused"));
}

std::vector<v1::RecordResultRequest> ResultSpool::Load() const {
  std::vector<std::pair<std::filesystem::file_time_type, std::string>> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
    const std::string path = entry.path().string();
    if (!absl::EndsWith(path, kSuffix)) continue;
    std::error_code ignored;
    files.emplace_back(entry.last_write_time(ignored), path);
  }
  if (error) {
    LOG(ERROR) << "msg=\"cannot list the result spool\" folder=" << folder_ << " error=\""
               << error.message() << "\"";
  }
  std::sort(files.begin(), files.end());
  std::vector<v1::RecordResultRequest> requests;
  for (const auto& [time, path] : files) {
    auto request = ReadResult(path);
    if (request.ok()) {
      requests.push_back(*std::move(request));
    } else {
      LOG(WARNING) << "msg=\"spooled result unreadable, set aside\" file=" << path
                   << ".corrupt reason=\"" << request.status().message() << "\"";
      Rename(path, absl::StrCat(path, ".corrupt"));
    }
  }
  return requests;
}

}  // namespace ksearch
