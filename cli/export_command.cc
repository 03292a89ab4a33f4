#include <google/protobuf/util/json_util.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

// A file that appears only once it is complete.
class LineFile {
 public:
  explicit LineFile(const std::string& path) : path_(path), part_(path + ".part") {
    if (path_ == "-") {
      file_ = stdout;
    } else {
      file_ = std::fopen(part_.c_str(), "we");
    }
  }
  ~LineFile() {
    if (path_ == "-" || file_ == nullptr) return;
    std::fclose(file_);
    ::unlink(part_.c_str());
  }
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  bool Write(const std::string& line) {
    return file_ != nullptr && std::fwrite(line.data(), 1, line.size(), file_) == line.size();
  }
  absl::Status Finish() {
    if (file_ == nullptr) return ErrnoStatus(errno, absl::StrCat("create ", part_));
    if (std::fflush(file_) != 0) return ErrnoStatus(errno, absl::StrCat("write ", path_));
    if (path_ == "-") return absl::OkStatus();
    if (::fsync(::fileno(file_)) != 0 || std::rename(part_.c_str(), path_.c_str()) != 0) {
      return ErrnoStatus(errno, absl::StrCat("write ", path_));
    }
    return absl::OkStatus();
  }
  bool ok() const { return file_ != nullptr; }

 private:
  const std::string path_;
  const std::string part_;
  std::FILE* file_ = nullptr;
};

}  // namespace

int ExportCommand(Client* client, const Options& options) {
  if (IsViewFormat(options.format)) return ExportViewCommand(client, options);
  if (!options.format.empty()) return ExportSolutionCommand(client, options);
  if (!options.force && options.cassette != "-" && ::access(options.cassette.c_str(), F_OK) == 0) {
    return Fail(absl::AlreadyExistsError(
        absl::StrCat(options.cassette, " exists; choose another file, or give --force")));
  }
  LineFile file(options.cassette);
  if (!file.ok()) return Fail(file.Finish());
  v1::ExportRunRequest request;
  request.set_run_id(options.run_id);
  request.set_without_results(options.without_results);
  const auto context = ContextWithDeadline(absl::Hours(1));
  const auto reader = client->stub().ExportRun(context.get(), request);
  v1::RecordedLine line;
  int calls = 0, jobs = 0;
  bool written = true;
  std::string run_id;
  while (written && reader->Read(&line)) {
    calls += line.has_call();
    jobs += line.has_job();
    if (line.has_header()) run_id = line.header().run_id();
    written = file.Write(ToJson(line, /*with_defaults=*/false, /*pretty=*/false) + "\n");
  }
  if (!written) {
    const absl::Status status = ErrnoStatus(errno, absl::StrCat("write ", options.cassette));
    context->TryCancel();
    reader->Finish();
    if (options.cassette == "-") return kExitOther;  // main says so
    return Fail(status);
  }
  const absl::Status read = FromGrpc(reader->Finish());
  if (!read.ok()) return Fail(client->Explain(read));
  if (const absl::Status status = file.Finish(); !status.ok()) {
    return options.cassette == "-" ? kExitOther : Fail(status);
  }
  if (options.json && options.cassette != "-") {
    PrintJson({{"run_id", run_id}, {"file", options.cassette}});
  }
  std::fprintf(stderr, "%s: %d calls and %d results in %s\n", run_id.c_str(), calls, jobs,
               options.cassette.c_str());
  return kExitOk;
}

absl::StatusOr<v1::RunConfig> RecordedConfig(const std::string& path) {
  std::ifstream file(path);
  if (!file) return ErrnoStatus(errno, absl::StrCat("open ", path));
  std::string first;
  std::getline(file, first);
  v1::RecordedLine line;
  google::protobuf::util::JsonParseOptions parse;
  parse.ignore_unknown_fields = true;
  if (!google::protobuf::util::JsonStringToMessage(first, &line, parse).ok() ||
      !line.has_header()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ":1: not the header of a cassette written by ksearch export"));
  }
  line.mutable_header()->mutable_config()->clear_replay_order_of();
  return line.header().config();
}

}  // namespace ksearch
