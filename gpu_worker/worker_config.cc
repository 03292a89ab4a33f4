#include "gpu_worker/worker_config.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/access/configured_access.h"
#include "common/arguments.h"
#include "common/config_file.h"
#include "common/language.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/subprocess.h"
#include "common/textproto.h"
#include "gpu_worker/sandbox/cgroup.h"
#include "gpu_worker/sandbox/privileges.h"
#include "gpu_worker/sandbox/seccomp_filter.h"

namespace ksearch {
namespace {

constexpr int kFewestSlotsOfADevice = 2;
constexpr int kMostSlotsOfADevice = 4;
// A compiler takes one core, and a program that is measured wants some for itself.
constexpr int kCoresOfASlot = 4;
constexpr int kMaxSlots = 1024;
constexpr absl::Duration kDefaultLeaveGrace = absl::Seconds(60);
constexpr absl::Duration kLongestStay = absl::Hours(24 * 3653);

std::string HostName() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "worker";
}

void CheckAddress(const std::string& address, std::vector<std::string>* faults) {
  if (absl::StartsWith(address, "unix:")) return;
  const size_t colon = address.rfind(':');
  int port = 0;
  if (address.empty()) {
    faults->push_back(
        "coordinator_address is missing: give --coordinator HOST:PORT or set it in the config");
  } else if (colon == std::string::npos || colon == 0 ||
             !absl::SimpleAtoi(address.substr(colon + 1), &port) || port < 1 || port > 65535) {
    faults->push_back(
        absl::StrCat("coordinator_address '", address, "' must be HOST:PORT, e.g. 127.0.0.1:7400"));
  }
}

// Language_Name of every language that a worker builds, of those that it builds for `device` if
// that is given.
std::vector<std::string> BuiltLanguages(v1::DeviceClass device = v1::DEVICE_CLASS_UNSPECIFIED) {
  std::vector<std::string> names;
  for (const LanguageFacts& language : Languages()) {
    if (language.toolkit == Toolkit::kNone) continue;
    if (device != v1::DEVICE_CLASS_UNSPECIFIED && !BuiltFor(language.id, device)) continue;
    names.push_back(v1::Language_Name(language.id));
  }
  return names;
}

void CheckDevice(const std::string& field, const v1::DeviceSettings& device, bool builds_cuda,
                 std::vector<std::string>* faults) {
  if (device.max_rotation_bytes() < 0) {
    faults->push_back(absl::StrCat(field, ".max_rotation_bytes: ", device.max_rotation_bytes(),
                                   " must not be negative"));
  }
  const bool cuda = device.device_class() == v1::DEVICE_CLASS_CUDA;
  if (!cuda && (!device.gpus().empty() || device.allow_busy())) {
    faults->push_back(absl::StrCat(field, ".gpus and ", field,
                                   ".allow_busy are for device_class: DEVICE_CLASS_CUDA"));
  }
  // Without any toolchain the default builds programs for processors.
  if (cuda && !builds_cuda) {
    faults->push_back(absl::StrCat(field,
                                   ".device_class: DEVICE_CLASS_CUDA runs CUDA candidates, but no "
                                   "toolchain builds them: add toolchains { language: ",
                                   absl::StrJoin(BuiltLanguages(v1::DEVICE_CLASS_CUDA), " or "),
                                   " }"));
  }
}

std::string FromEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// A flag's duration, e.g. "90s" or "4h".
void TakeTime(absl::string_view flag, const std::string& value,
              google::protobuf::Duration* duration, std::vector<std::string>* faults) {
  absl::Duration time;
  if (!absl::ParseDuration(value, &time) || time <= absl::ZeroDuration() || time > kLongestStay) {
    faults->push_back(absl::StrCat(flag, ": '", value, "' must be a time such as 90s, 5m or 4h"));
    return;
  }
  *duration = ToProto(time);
}

void CheckStay(const v1::WorkerConfig& config, std::vector<std::string>* faults) {
  const auto positive = [faults](absl::string_view field, bool given,
                                 const google::protobuf::Duration& time) {
    if (given && (FromProto(time) <= absl::ZeroDuration() || FromProto(time) > kLongestStay)) {
      faults->push_back(absl::StrCat(field, ": must be more than 0 and at most 10 years"));
    }
  };
  positive("idle_timeout", config.has_idle_timeout(), config.idle_timeout());
  positive("lifetime", config.has_lifetime(), config.lifetime());
  positive("leave_grace", config.has_leave_grace(), config.leave_grace());
  const auto name = [faults](absl::string_view field, const std::string& text) {
    if (text.size() > 64 || !std::all_of(text.begin(), text.end(), [](unsigned char c) {
          return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '-';
        })) {
      faults->push_back(absl::StrCat(field, ": at most 64 letters, digits, '_', '.' and '-'"));
    }
  };
  name("pool (KSEARCH_POOL)", config.pool());
  name("instance (KSEARCH_INSTANCE)", config.instance());
}

// The address and pool of the access file, where the configuration has none of its own; false: it
// cannot be used.
bool TakeAccessFile(v1::WorkerConfig* config, std::vector<std::string>* faults) {
  if (!config->token_file().empty() || config->has_tls()) {
    faults->push_back("access_file replaces token_file and tls: leave these out");
  }
  const auto file = ReadAccessFile(config->access_file());
  if (!file.ok()) {
    faults->push_back(absl::StrCat("access_file: ", file.status().message()));
    return false;
  }
  if (config->coordinator_address().empty()) {
    config->set_coordinator_address(file->coordinator_address());
  }
  if (config->pool().empty()) config->set_pool(file->pool());
  return true;
}

void CheckNumbers(const v1::WorkerConfig& config, std::vector<std::string>* faults) {
  const auto not_negative = [faults](absl::string_view field, int64_t value) {
    if (value < 0) faults->push_back(absl::StrCat(field, ": ", value, " must not be negative"));
  };
  if (config.slots() < 0 || config.slots() > kMaxSlots) {
    faults->push_back(absl::StrCat("slots: ", config.slots(), " must be 1 to ", kMaxSlots));
  }
  if (config.run_as_uid() < 1) faults->push_back("run_as_uid: must be 1 or more, root is refused");
  if (config.run_as_gid() < 1) faults->push_back("run_as_gid: must be 1 or more, root is refused");
  not_negative("sandbox.max_processes", config.sandbox().max_processes());
  not_negative("sandbox.tmp_bytes", config.sandbox().tmp_bytes());
  not_negative("sandbox.output_bytes", config.sandbox().output_bytes());
  not_negative("sandbox.reserved_runners", config.sandbox().reserved_runners());
  if (const auto filter = GpuFilterNamed(config.sandbox().gpu_filter()); !filter.ok()) {
    faults->push_back(absl::StrCat("sandbox.gpu_filter: ", filter.status().message()));
  }
  std::set<v1::Language> languages;
  for (int i = 0; i < config.toolchains_size(); ++i) {
    const v1::Toolchain& toolchain = config.toolchains(i);
    const std::string field = absl::StrCat("toolchains[", i, "]");
    not_negative(field + ".cache_bytes", toolchain.cache_bytes());
    const LanguageFacts* const known = FindLanguage(toolchain.language());
    if (known == nullptr || known->toolkit == Toolkit::kNone) {
      faults->push_back(absl::StrCat(field, ".language: this worker builds ",
                                     absl::StrJoin(BuiltLanguages(), ", "), ", not ",
                                     v1::Language_Name(toolchain.language())));
    }
    const bool python = known != nullptr && known->toolkit == Toolkit::kPython;
    if (!python && !toolchain.interpreter().empty()) {
      faults->push_back(
          absl::StrCat(field, ".interpreter: is of Python; a compiler is named by compiler_path"));
    }
    if (python && (!toolchain.compiler_path().empty() || toolchain.extra_flags_size() > 0)) {
      faults->push_back(absl::StrCat(
          field,
          ".compiler_path and .extra_flags: Python has none; its interpreter is named by "
          "interpreter"));
    }
    if (!languages.insert(toolchain.language()).second) {
      faults->push_back(absl::StrCat(field, ".language is given twice"));
    }
  }
  const bool builds_cuda =
      std::any_of(languages.begin(), languages.end(),
                  [](v1::Language language) { return BuiltFor(language, v1::DEVICE_CLASS_CUDA); });
  CheckDevice("device", config.device(), builds_cuda, faults);
  for (int i = 0; i < config.more_devices_size(); ++i) {
    CheckDevice(absl::StrCat("more_devices[", i, "]"), config.more_devices(i), builds_cuda, faults);
  }
}

absl::Status MakeStateFolder(const v1::WorkerConfig& config, bool as_root) {
  const std::string& folder = config.state_dir();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot make state_dir ", folder, ": ", error.message()));
  }
  if (!as_root) return absl::OkStatus();
  struct stat facts;
  if (::stat(folder.c_str(), &facts) != 0) return ErrnoStatus(errno, absl::StrCat("stat ", folder));
  const uid_t uid = static_cast<uid_t>(config.run_as_uid());
  if (facts.st_uid == uid) return absl::OkStatus();
  // Not a folder that is in use: giving away, say, /tmp would be worse than an error.
  if (!std::filesystem::is_empty(folder, error) || error) {
    return absl::FailedPreconditionError(absl::StrCat(
        "state_dir ", folder, " belongs to uid ", facts.st_uid, ", but the worker runs as ", "uid ",
        uid, ": run `chown -R ", uid, " ", folder, "` or choose another"));
  }
  if (::chown(folder.c_str(), uid, static_cast<gid_t>(config.run_as_gid())) != 0) {
    return ErrnoStatus(errno, absl::StrCat("chown ", folder));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::WorkerConfig> LoadWorkerConfig(const std::vector<std::string>& args,
                                                  bool need_coordinator) {
  v1::WorkerConfig config, given;
  std::vector<std::string> faults, of_usage;
  std::vector<std::string> words = args;
  // The one argument without a value.
  std::replace(words.begin(), words.end(), std::string("--compile-only"),
               std::string("--compile-only=true"));
  ASSIGN_OR_RETURN(const auto arguments, SplitArguments(words));
  for (const auto& [name, value] : arguments) {
    int number = 0;
    if (name == "--config") {
      const absl::Status status = ReadConfigFile(value, &config);
      if (!status.ok()) return absl::InvalidArgumentError(status.message());
    } else if (name == "--coordinator") {
      given.set_coordinator_address(value);
    } else if (name == "--state-dir") {
      given.set_state_dir(value);
    } else if (name == "--name") {
      given.set_name(value);
    } else if (name == "--token-file") {
      given.set_token_file(value);
    } else if (name == "--access") {
      given.set_access_file(value);
    } else if (name == "--ca-file") {
      given.mutable_tls()->set_ca_file(value);
    } else if (name == "--server-name") {
      given.mutable_tls()->set_server_name(value);
    } else if (name == "--idle-timeout") {
      TakeTime(name, value, given.mutable_idle_timeout(), &of_usage);
    } else if (name == "--lifetime") {
      // "auto" is what holds without it, too.
      if (value != "auto") TakeTime(name, value, given.mutable_lifetime(), &of_usage);
    } else if (name == "--leave-grace") {
      TakeTime(name, value, given.mutable_leave_grace(), &of_usage);
    } else if (name == "--slots") {
      if (!absl::SimpleAtoi(value, &number) || number < 1) {
        of_usage.push_back(absl::StrCat("--slots: '", value, "' must be a number of 1 or more"));
      }
      given.set_slots(number);
    } else if (name == "--compile-only") {
      if (value != "true") of_usage.push_back("--compile-only takes no value");
      given.set_compile_only(true);
    } else {
      of_usage.push_back(absl::StrCat(
          "unknown argument ", name,
          " (known: --config, --coordinator, --state-dir, --name, --slots, --compile-only, "
          "--access, --token-file, --ca-file, --server-name, --idle-timeout, --lifetime, "
          "--leave-grace)"));
    }
  }
  // A message of the file's would otherwise keep the fields that the flag leaves at zero.
  if (given.has_idle_timeout()) config.clear_idle_timeout();
  if (given.has_lifetime()) config.clear_lifetime();
  if (given.has_leave_grace()) config.clear_leave_grace();
  config.MergeFrom(given);
  if (config.state_dir().empty()) config.set_state_dir("ksearch-worker-state");
  config.set_state_dir(std::filesystem::absolute(config.state_dir()).lexically_normal());
  if (config.binary_dir().empty()) config.set_binary_dir(BinaryFolder());
  config.set_binary_dir(std::filesystem::absolute(config.binary_dir()).lexically_normal());
  if (config.name().empty()) config.set_name(HostName());
  if (config.sandbox().bubblewrap_path().empty()) {
    // A bundle brings its own: newer than some distributions', which cannot do what is asked.
    const std::string own = config.binary_dir() + "/bwrap";
    if (CheckExecutable(own).ok()) config.mutable_sandbox()->set_bubblewrap_path(own);
  }
  if (config.run_as_uid() == 0) config.set_run_as_uid(kDefaultWorkerUid);
  if (config.run_as_gid() == 0) config.set_run_as_gid(kDefaultWorkerUid);
  if (!config.has_leave_grace()) *config.mutable_leave_grace() = ToProto(kDefaultLeaveGrace);
  if (config.pool().empty()) config.set_pool(FromEnvironment("KSEARCH_POOL"));
  if (config.instance().empty()) config.set_instance(FromEnvironment("KSEARCH_INSTANCE"));
  const bool access_read = config.access_file().empty() || TakeAccessFile(&config, &faults);
  // An access file that cannot be used may name the address: one fault is enough.
  if ((need_coordinator && access_read) || !config.coordinator_address().empty()) {
    CheckAddress(config.coordinator_address(),
                 given.coordinator_address().empty() ? &faults : &of_usage);
  }
  CheckNumbers(config, &faults);
  CheckStay(config, &faults);
  const bool usage = !of_usage.empty();
  faults.insert(faults.begin(), of_usage.begin(), of_usage.end());
  if (usage) return UsageError(absl::StrJoin(faults, "\n"));
  if (!faults.empty()) return absl::InvalidArgumentError(absl::StrJoin(faults, "\n"));
  return config;
}

int SlotsOf(const v1::WorkerConfig& config, int devices, int cores) {
  if (config.slots() > 0) return config.slots();
  const int of_a_device = std::clamp(cores / (kCoresOfASlot * std::max(1, devices)),
                                     kFewestSlotsOfADevice, kMostSlotsOfADevice);
  return std::clamp(of_a_device * devices, 1, kMaxSlots);
}

absl::StatusOr<ClientAccess> ReadWorkerAccess(const v1::WorkerConfig& config) {
  if (!config.access_file().empty()) {
    ASSIGN_OR_RETURN(const v1::AccessFile file, ReadAccessFile(config.access_file()));
    ClientAccess access = AccessOf(file);
    RETURN_IF_ERROR(CheckClientAccess(config.coordinator_address(), access));
    return access;
  }
  return ReadConfiguredAccess(config.coordinator_address(), config.token_file(), config.tls());
}

absl::Status TakeAccount(const v1::WorkerConfig& config) {
  const bool as_root = ::geteuid() == 0;
  RETURN_IF_ERROR(MakeStateFolder(config, as_root));
  if (!as_root) return absl::OkStatus();
  const uid_t uid = static_cast<uid_t>(config.run_as_uid());
  const gid_t gid = static_cast<gid_t>(config.run_as_gid());
  if (config.sandbox().cgroup() != "none") {
    const absl::Status prepared = CgroupParent::Prepare(uid, gid);
    // The effect shows when the sandbox is made, "required" or not.
    LOG(DEBUG) << "msg=\"cgroup\" status=\"" << prepared << "\"";
  }
  return DropPrivileges(uid, gid);
}

absl::Status CheckPrograms(const v1::WorkerConfig& config) {
  std::vector<std::string> faults;
  const auto check = [&faults](const absl::Status& status, absl::string_view field) {
    if (!status.ok()) faults.push_back(absl::StrCat(field, ": ", status.message()));
  };
  check(CheckExecutable(config.state_dir()), "state_dir");
  for (const char* name : {"/ksearch-verifier", "/ksearch-runner"}) {
    if (config.compile_only()) break;
    check(CheckExecutable(config.binary_dir() + name), "binary_dir");
  }
  const std::string& bubblewrap = config.sandbox().bubblewrap_path();
  if (!FindOnPath(bubblewrap.empty() ? "bwrap" : bubblewrap).ok()) {
    faults.push_back(absl::StrCat(
        "sandbox.bubblewrap_path: ", bubblewrap.empty() ? "bwrap is not on PATH" : bubblewrap,
        bubblewrap.empty() ? "" : " is not an executable file",
        "; install the package bubblewrap"));
  }
  if (config.toolchains().empty()) check(FindOnPath("g++").status(), "toolchains.compiler_path");
  for (const v1::Toolchain& toolchain : config.toolchains()) {
    const std::string& compiler = toolchain.compiler_path();
    // If it is also looked for in places other than PATH, the toolchain itself reports it.
    if (FactsOf(toolchain.language()).toolkit != Toolkit::kGxx && compiler.empty()) continue;
    check(FindOnPath(compiler.empty() ? "g++" : compiler).status(), "toolchains.compiler_path");
  }
  if (faults.empty()) return absl::OkStatus();
  return absl::NotFoundError(absl::StrJoin(faults, "\n"));
}

}  // namespace ksearch
