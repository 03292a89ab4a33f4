#include "coordinator/coordinator_config.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "common/arguments.h"
#include "common/config_file.h"
#include "common/sink_argument.h"
#include "common/status_macros.h"
#include "common/subprocess.h"
#include "coordinator/events/sinks/sink_table.h"

namespace ksearch {
namespace {

bool IsFolder(const std::string& path) {
  struct stat facts;
  return ::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

// configs/<name> of the tree or installation that the binary belongs to: <prefix>/bin/.. or
// <source>/build/<preset>/bin/../../..
std::string FindFolder(const std::string& name) {
  const std::string bin = BinaryFolder();
  for (const char* up : {"/../share/ksearch/", "/../configs/", "/../../../configs/"}) {
    // Without "..": users see the paths of tasks.
    if (IsFolder(bin + up + name)) {
      return std::filesystem::path(bin + up + name).lexically_normal().string();
    }
  }
  return "configs/" + name;
}

absl::Status CheckListenAddress(const std::string& address) {
  if (absl::StartsWith(address, "unix:") && address.size() > 5) return absl::OkStatus();
  const size_t colon = address.rfind(':');
  int port = 0;
  if (colon == std::string::npos || colon == 0 ||
      !absl::SimpleAtoi(address.substr(colon + 1), &port) || port < 0 || port > 65535) {
    return absl::InvalidArgumentError(absl::StrCat("listen_address '", address,
                                                   "' must be HOST:PORT, e.g. 127.0.0.1:7400, or "
                                                   "unix:PATH"));
  }
  return absl::OkStatus();
}

// [NAME=]KIND[@cpu|@cuda][,precision=P][,baseline=B]:PATH
absl::StatusOr<v1::SuiteConfig> ParseSuite(absl::string_view text) {
  constexpr absl::string_view kForm =
      "must be [NAME=]KIND[@cpu|@cuda][,precision=P][,baseline=B]:PATH, e.g. "
      "flashinfer:/data/flashinfer-trace";
  const size_t colon = text.find(':');
  if (colon == absl::string_view::npos || colon + 1 == text.size()) {
    return UsageError(absl::StrCat("--suite '", text, "' ", kForm));
  }
  v1::SuiteConfig suite;
  suite.set_path(std::string(text.substr(colon + 1)));
  absl::string_view kind = text.substr(0, colon);
  if (const size_t comma = kind.find(','); comma != absl::string_view::npos) {
    for (const absl::string_view option : absl::StrSplit(kind.substr(comma + 1), ',')) {
      const std::pair<absl::string_view, absl::string_view> parts =
          absl::StrSplit(option, absl::MaxSplits('=', 1));
      if (parts.first == "precision" && !parts.second.empty()) {
        suite.set_precision(std::string(parts.second));
      } else if (parts.first == "baseline" && !parts.second.empty()) {
        suite.set_baseline(std::string(parts.second));
      } else {
        return UsageError(absl::StrCat("--suite '", text, "': '", option, "' ", kForm));
      }
    }
    kind = kind.substr(0, comma);
  }
  if (const size_t equal = kind.find('='); equal != absl::string_view::npos) {
    suite.set_name(std::string(kind.substr(0, equal)));
    kind.remove_prefix(equal + 1);
    if (suite.name().empty()) {
      return UsageError(absl::StrCat("--suite '", text, "': the name before '=' is empty"));
    }
  }
  if (const size_t at = kind.find('@'); at != absl::string_view::npos) {
    const absl::string_view device = kind.substr(at + 1);
    if (device != "cpu" && device != "cuda") {
      return UsageError(absl::StrCat("--suite '", text, "' ", kForm));
    }
    suite.set_device(device == "cpu" ? v1::DEVICE_CLASS_CPU : v1::DEVICE_CLASS_CUDA);
    kind = kind.substr(0, at);
  }
  suite.set_kind(std::string(kind));
  return suite;
}

// Suites and sinks.
template <typename Config>
const std::string& NameOf(const Config& one) {
  return one.name().empty() ? one.kind() : one.name();
}

// Sinks given on the command line are added to those in the file, or replace those of the same
// name.
template <typename Config>
void TakeNamed(const google::protobuf::RepeatedPtrField<Config>& given,
               google::protobuf::RepeatedPtrField<Config>* known) {
  known->erase(std::remove_if(known->begin(), known->end(),
                              [&](const Config& one) {
                                return std::any_of(given.begin(), given.end(),
                                                   [&](const Config& each) {
                                                     return NameOf(each) == NameOf(one);
                                                   });
                              }),
               known->end());
}

}  // namespace

absl::StatusOr<v1::CoordinatorConfig> LoadCoordinatorConfig(const std::vector<std::string>& args,
                                                            CommandLineActions* actions) {
  *actions = CommandLineActions();
  v1::CoordinatorConfig config, given;
  std::vector<std::string> with_values;
  for (const std::string& arg : args) {
    if (arg == "--exit-when-waiting") {
      actions->exit_when_waiting = true;
    } else if (arg == "--check-config") {
      actions->check_config = true;
    } else {
      with_values.push_back(arg);
    }
  }
  ASSIGN_OR_RETURN(const auto arguments, SplitArguments(with_values));
  for (const auto& [name, value] : arguments) {
    if (name == "--config") {
      const absl::Status status = ReadConfigFile(value, &config);
      if (!status.ok()) return absl::InvalidArgumentError(status.message());
    } else if (name == "--listen") {
      const absl::Status status = CheckListenAddress(value);
      if (!status.ok()) return UsageError(absl::StrCat("--listen: ", status.message()));
      given.set_listen_address(value);
    } else if (name == "--state-dir") {
      given.set_state_dir(value);
    } else if (name == "--backup") {
      actions->backup = value;
    } else if (name == "--remove-run") {
      actions->remove_runs.push_back(value);
    } else if (name == "--remove-runs-before") {
      std::string why;
      if (!absl::ParseTime("%Y-%m-%d", value, &actions->remove_runs_before, &why)) {
        return UsageError(absl::StrCat("--remove-runs-before: '", value.substr(0, 50),
                                       "' is not a date; write one such as 2026-11-30"));
      }
    } else if (name == "--archive") {
      actions->archive = value;
    } else if (name == "--dashboard") {
      actions->dashboard = value;
    } else if (name == "--dashboard-host") {
      actions->dashboard_hosts.push_back(value);
    } else if (name == "--task-dir") {
      given.add_task_dirs(value);
    } else if (name == "--suite") {
      ASSIGN_OR_RETURN(*given.add_suites(), ParseSuite(value));
    } else if (name == "--sink") {
      ASSIGN_OR_RETURN(*given.add_sinks(), ParseSinkArgument(value));
    } else {
      return UsageError(absl::StrCat("unknown argument ", name,
                                     " (known: --config, --listen, --state-dir, --task-dir, "
                                     "--suite, --sink, --dashboard, --dashboard-host, --backup, "
                                     "--remove-run, --remove-runs-before, --archive, "
                                     "--exit-when-waiting, --check-config)"));
    }
  }
  if (actions->removes_runs() == actions->archive.empty()) {
    return UsageError(
        "--remove-run and --remove-runs-before need --archive, which says where the database is "
        "copied to before they remove anything, and --archive needs one of them");
  }
  if (given.task_dirs_size() > 0) config.clear_task_dirs();
  TakeNamed(given.suites(), config.mutable_suites());
  TakeNamed(given.sinks(), config.mutable_sinks());
  config.MergeFrom(given);
  if (config.listen_address().empty()) config.set_listen_address("127.0.0.1:7400");
  if (config.state_dir().empty()) config.set_state_dir("ksearch-state");
  if (!config.without_built_in_tasks()) {
    const std::string built_in = FindFolder("tasks");
    const bool named = std::any_of(
        config.task_dirs().begin(), config.task_dirs().end(), [&](const std::string& folder) {
          std::error_code none;
          return folder == built_in || std::filesystem::equivalent(folder, built_in, none);
        });
    // A program that was copied out of its tree has no built-in tasks.
    if (config.task_dirs().empty() || (!named && IsFolder(built_in))) {
      config.add_task_dirs(built_in);
    }
  }
  if (config.price_dirs_size() == 0) {
    // A tree without prices is still useful: what needs a price says so.
    const std::string folder = FindFolder("prices");
    if (IsFolder(folder)) config.add_price_dirs(folder);
  }

  std::vector<std::string> faults;
  if (config.task_dirs().empty()) {
    faults.emplace_back("without_built_in_tasks needs task_dirs");
  }
  if (const absl::Status status = CheckListenAddress(config.listen_address()); !status.ok()) {
    faults.emplace_back(status.message());
  }
  for (const std::string& folder : config.task_dirs()) {
    // Backups and removals need no tasks.
    if (actions->backup.empty() && !actions->removes_runs() && !IsFolder(folder)) {
      faults.push_back(absl::StrCat("task_dirs: no folder '", folder,
                                    "' (give --task-dir, or task_dirs in the config)"));
    }
  }
  if (config.max_connections() < 0) {
    faults.emplace_back("max_connections must not be negative (0: the default, 1024)");
  }
  if (config.max_llm_calls_in_flight() < 0) {
    faults.emplace_back("max_llm_calls_in_flight must not be negative (0: the default, 16)");
  }
  if (const absl::Status status = sinks::CheckSinks(config.sinks()); !status.ok()) {
    faults.emplace_back(status.message());
  }
  for (v1::SinkConfig& sink : *config.mutable_sinks()) {
    sink = sinks::WithDefaults(std::move(sink), config.state_dir());
  }
  std::set<std::string> names, mailboxes;
  for (int i = 0; i < config.providers_size(); ++i) {
    const std::string& name = config.providers(i).name();
    if (name.empty()) faults.push_back(absl::StrCat("providers[", i, "].name is missing"));
    if (!names.insert(name).second) {
      faults.push_back(absl::StrCat("providers[", i, "].name '", name, "' is used twice"));
    }
    if (config.providers(i).has_mailbox() &&
        !mailboxes.insert(config.providers(i).mailbox().folder()).second) {
      faults.push_back(absl::StrCat("providers[", i, "].mailbox.folder: another mailbox has it"));
    }
  }
  if (!faults.empty()) return absl::InvalidArgumentError(absl::StrJoin(faults, "; "));
  return config;
}

}  // namespace ksearch
