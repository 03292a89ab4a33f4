#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "common/config_file.h"
#include "common/status_macros.h"
#include "common/subprocess.h"
#include "common/textproto.h"
#include "proto/config.pb.h"

namespace ksearch {
namespace {

constexpr absl::Duration kCheckTime = absl::Seconds(60);
constexpr int64_t kMostBytes = 1 << 20;

struct Kind {
  absl::string_view name;
  std::unique_ptr<google::protobuf::Message> (*make)();
  // The program that reads it and can check more than its fields; empty: none.
  absl::string_view program;
};

template <typename Config>
std::unique_ptr<google::protobuf::Message> Make() {
  return std::make_unique<Config>();
}

// Names are those of the option --as (options.cc).
constexpr Kind kKinds[] = {
    {"coordinator", Make<v1::CoordinatorConfig>, "ksearch-coordinator"},
    {"worker", Make<v1::WorkerConfig>, "ksearch-worker"},
    {"run", Make<v1::RunConfig>, ""},
};

// The kind whose fields the text has. INVALID_ARGUMENT: none, with the reason for each.
absl::StatusOr<const Kind*> FindKind(const std::string& text, const std::string& path) {
  std::vector<std::string> against;
  for (const Kind& kind : kKinds) {
    const absl::Status parsed = ParseConfig(text, path, kind.make().get());
    if (parsed.ok()) return &kind;
    against.push_back(absl::StrCat("as that of a ", kind.name, ": ", parsed.message()));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(path, " is not a configuration:\n  ", absl::StrJoin(against, "\n  ")));
}

absl::StatusOr<const Kind*> Validate(const std::string& path, const std::string& as) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostBytes));
  const Kind* found = nullptr;
  for (const Kind& kind : kKinds) {
    if (kind.name == as) found = &kind;
  }
  if (found == nullptr) {
    ASSIGN_OR_RETURN(found, FindKind(text, path));
  } else {
    RETURN_IF_ERROR(ParseConfig(text, path, found->make().get()));
  }
  if (found->program.empty()) return found;
  SubprocessOptions options;
  options.argv = {absl::StrCat(BinaryFolder(), "/", found->program), "--check-config", "--config",
                  path};
  ASSIGN_OR_RETURN(const CommandOutput output, RunCommand(std::move(options), kCheckTime));
  if (output.timed_out) {
    return absl::UnavailableError(absl::StrCat(found->program, " did not finish checking ", path,
                                               " within ", absl::FormatDuration(kCheckTime)));
  }
  if (output.exit.signaled || output.exit.code != 0) {
    return absl::InvalidArgumentError(absl::StrCat(path, ":\n", output.err));
  }
  return found;
}

}  // namespace

int ConfigCommand(Client* /*client*/, const Options& options) {
  const auto kind = Validate(options.config_file, options.config_kind);
  if (!kind.ok()) {
    std::fprintf(stderr, "ksearch: %s\n", std::string(kind.status().message()).c_str());
    return kExitConfig;
  }
  const std::string name((*kind)->name);
  if (options.json) return PrintJson({{"file", options.config_file}, {"kind", name}});
  std::printf("%s: a valid configuration of a %s\n", options.config_file.c_str(), name.c_str());
  return kExitOk;
}

}  // namespace ksearch
