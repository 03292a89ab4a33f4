#include "tests/faults/faulty_cluster.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "common/access/access_token.h"
#include "common/access/certificates.h"
#include "common/access/token_file.h"
#include "common/clock.h"
#include "common/identity.h"
#include "common/log.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "common/unique_fd.h"
#include "coordinator/service/evaluation.h"
#include "coordinator/store/store.h"
#include "coordinator/tasks/directory_suite.h"

namespace ksearch {
namespace {

constexpr int kAdders = 50;  // threads, so that the store groups their commits
constexpr char kTask[] = "softmax_rows_f32";
constexpr int64_t kMaxLogBytes = int64_t{64} << 20;

std::string Environment(const char* name) {
  const char* value = ::getenv(name);
  return value == nullptr ? "" : value;
}

// The rows of a query on the database of a coordinator that may be using it; none if it is not
// there yet.
std::vector<std::vector<std::string>> Query(const std::string& path, const std::string& sql) {
  std::vector<std::vector<std::string>> rows;
  sqlite3* db = nullptr;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK) {
    sqlite3_busy_timeout(db, 5000);
    if (sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK) {
      while (sqlite3_step(statement) == SQLITE_ROW) {
        std::vector<std::string>& row = rows.emplace_back();
        for (int i = 0; i < sqlite3_column_count(statement); ++i) {
          const unsigned char* text = sqlite3_column_text(statement, i);
          row.emplace_back(text == nullptr ? "" : reinterpret_cast<const char*>(text));
        }
      }
    }
  }
  sqlite3_finalize(statement);
  sqlite3_close(db);
  return rows;
}

// The value of key=value in a log line.
std::string Field(absl::string_view line, absl::string_view key) {
  const std::string start = absl::StrCat(" ", key, "=");
  const size_t at = line.find(start);
  if (at == absl::string_view::npos) return "";
  const absl::string_view rest = line.substr(at + start.size());
  return std::string(rest.substr(0, rest.find(' ')));
}

// A program that differs from all others, so that it has to be compiled.
absl::StatusOr<v1::JobSpec> BuildJob(const v1::Task& task, int number) {
  v1::EvaluateRequest request;
  request.set_kind(v1::JOB_KIND_BUILD);
  request.mutable_sources()->set_language(v1::LANGUAGE_CPP);
  v1::SourceFile* file = request.mutable_sources()->add_files();
  file->set_path("kernel.cpp");
  file->set_content(
      absl::StrCat("#include \"ksearch_task.h\"\n"
                   "extern \"C\" int ksearch_run(const KsearchArgs*) { return ",
                   number, "; }\n"));
  return EvaluationJob(task, request);
}

}  // namespace

absl::StatusOr<std::unique_ptr<FaultyCluster>> FaultyCluster::Start(
    std::unique_ptr<FaultyNetwork> network, int jobs) {
  auto cluster = std::unique_ptr<FaultyCluster>(new FaultyCluster);
  cluster->network_ = std::move(network);
  RETURN_IF_ERROR(cluster->WriteFiles());
  RETURN_IF_ERROR(cluster->AddJobs(jobs));
  // Workers first: they have to wait for it.
  for (int i = 1; i <= kWorkers; ++i) RETURN_IF_ERROR(cluster->StartWorker(i));
  RETURN_IF_ERROR(cluster->StartCoordinator());
  return cluster;
}

FaultyCluster::~FaultyCluster() {
  programs_.clear();
  network_.reset();
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

std::string FaultyCluster::Path(const std::string& name) const {
  return absl::StrCat(folder_, "/", name);
}

absl::Status FaultyCluster::WriteFiles() {
  std::string pattern = "/tmp/ksearch-faults-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) return ErrnoStatus(errno, "mkdtemp");
  folder_ = pattern;
  // Workers become an unprivileged user, who must reach the programs.
  ::chmod(folder_.c_str(), 0755);
  std::filesystem::create_directory(Path("bin"));
  std::filesystem::create_directory(Path("state"));
  std::filesystem::create_directory(Path("locks"));
  ::chmod(Path("locks").c_str(), 0777);
  for (const char* name :
       {"ksearch-coordinator", "ksearch-worker", "ksearch-verifier", "ksearch-runner"}) {
    std::filesystem::copy_file(Environment("KSEARCH_BIN_DIR") + "/" + name,
                               Path(std::string("bin/") + name));
  }
  const absl::Time now = absl::Now();
  const absl::Time end = now + absl::Hours(24);
  ASSIGN_OR_RETURN(const KeyPair authority, MakeAuthority("faults", now - absl::Hours(1), end));
  CertificateRequest request;
  request.name = "coordinator";
  request.hosts = {network_->Address(kCoordinator)};
  request.not_before = now - absl::Hours(1);
  request.not_after = end;
  ASSIGN_OR_RETURN(const KeyPair pair, IssueCertificate(authority, request));
  std::ofstream(Path("ca.pem")) << authority.certificate;
  std::ofstream(Path("coordinator.pem")) << pair.certificate;
  std::ofstream(Path("coordinator.key")) << pair.key;
  std::ofstream(Path("coordinator.textproto"))
      << "tls { certificate_file: \"" << Path("coordinator.pem") << "\" key_file: \""
      << Path("coordinator.key") << "\" }\n";
  for (int i = 1; i <= kWorkers; ++i) {
    const std::string name = absl::StrCat("w", i);
    const NewToken token = MakeAccessToken(v1::ROLE_WORKER, name, now, end);
    std::ofstream(Path(name + ".token")) << token.token << "\n";
    RETURN_IF_ERROR(
        UpdateTokenFile(Path("state/tokens.textproto"), [&token](v1::AccessTokens* list) {
          *list->add_tokens() = token.record;
          return absl::OkStatus();
        }));
    // Its own device lock: nothing is measured here, and other measurements on this machine must
    // not delay the builds.
    std::ofstream(Path(name + ".textproto"))
        << "coordinator_address: \"" << network_->Address(kCoordinator) << ":7400\" state_dir: \""
        << Path(name) << "\" name: \"" << name << "\" token_file: \"" << Path(name + ".token")
        << "\" tls { ca_file: \"" << Path("ca.pem")
        << "\" } slots: 2 run_as_uid: 64123 run_as_gid: 64123\n"
        << "toolchains { language: LANGUAGE_CPP }\n"
        << "device { device_class: DEVICE_CLASS_CPU lock_path: \"" << Path("locks/" + name)
        << "\" }\n";
  }
  return absl::OkStatus();
}

absl::Status FaultyCluster::AddJobs(int jobs) const {
  ASSIGN_OR_RETURN(const auto suite,
                   MakeDirectorySuite({Environment("KSEARCH_SOURCE_DIR") + "/configs/tasks"}));
  ASSIGN_OR_RETURN(const v1::Task task, suite->Load(kTask));
  ASSIGN_OR_RETURN(const auto store, Store::Open({Path("state/ksearch.db")}));
  RETURN_IF_ERROR(store->PutBlob(TaskDigest(task), task.SerializeAsString()));
  std::vector<absl::Status> failures(kAdders);
  std::vector<std::thread> adders;
  for (int adder = 0; adder < kAdders; ++adder) {
    adders.emplace_back([&, adder] {
      for (int i = adder; i < jobs && failures[adder].ok(); i += kAdders) {
        const auto spec = BuildJob(task, i);
        failures[adder] = spec.ok() ? store->AddJob(JobId(*spec), *spec) : spec.status();
      }
    });
  }
  for (std::thread& adder : adders) adder.join();
  for (const absl::Status& failure : failures) RETURN_IF_ERROR(failure);
  return absl::OkStatus();
}

absl::Status FaultyCluster::StartProgram(int machine, const std::string& name,
                                         std::vector<std::string> argv) {
  const UniqueFd log(
      ::open(Path(name + ".log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  SubprocessOptions options;
  options.argv = std::move(argv);
  options.environment = {{"PATH", Environment("PATH")}};
  for (const char* variable : {"ASAN_OPTIONS", "UBSAN_OPTIONS"}) {
    if (!Environment(variable).empty()) options.environment[variable] = Environment(variable);
  }
  options.working_directory = folder_;
  options.inherited_fds = {{log.get(), 1}, {log.get(), 2}};
  absl::Status status;
  network_->RunOn(machine, [&] {
    auto program = Subprocess::Start(options);
    status = program.status();
    if (program.ok()) programs_[name] = *std::move(program);
  });
  return status;
}

absl::Status FaultyCluster::StartCoordinator() {
  return StartProgram(
      kCoordinator, "coordinator",
      {Path("bin/ksearch-coordinator"), "--config", Path("coordinator.textproto"), "--listen",
       network_->Address(kCoordinator) + ":7400", "--state-dir", Path("state"), "--task-dir",
       Environment("KSEARCH_SOURCE_DIR") + "/configs/tasks"});
}

absl::Status FaultyCluster::StartWorker(int number) {
  const std::string name = absl::StrCat("w", number);
  return StartProgram(number, name,
                      {Path("bin/ksearch-worker"), "--config", Path(name + ".textproto")});
}

void FaultyCluster::Kill(const std::string& name) {
  ::kill(programs_.at(name)->pid(), SIGKILL);
  programs_.at(name)->Wait(absl::InfiniteFuture());
  programs_.erase(name);
}

bool FaultyCluster::Stop(const std::string& name) {
  ::kill(programs_.at(name)->pid(), SIGTERM);
  const auto exit = programs_.at(name)->Wait(Clock::Real().SteadyNow() + absl::Seconds(60));
  programs_.erase(name);
  return exit.has_value() && !exit->signaled && exit->code == 0;
}

int FaultyCluster::Pid(const std::string& name) const { return programs_.at(name)->pid(); }

std::string FaultyCluster::Log(const std::string& name) const {
  return ReadFile(Path(name + ".log"), kMaxLogBytes).value_or("");
}

int FaultyCluster::WorkedSince(absl::Time since, absl::Time* last) const {
  const std::string micros = absl::StrCat(absl::ToUnixMicros(since));
  const auto rows =
      Query(Path("state/ksearch.db"),
            absl::StrCat("SELECT worker_id, min(at) FROM (SELECT worker_id, started_unix_us AS at "
                         "FROM attempts WHERE started_unix_us > ",
                         micros,
                         " UNION ALL SELECT worker_id, recorded_unix_us FROM results WHERE "
                         "recorded_unix_us > ",
                         micros, ") GROUP BY worker_id"));
  if (last != nullptr) *last = since;
  for (const auto& row : rows) {
    if (last != nullptr) *last = std::max(*last, absl::FromUnixMicros(std::stoll(row[1])));
  }
  return static_cast<int>(rows.size());
}

FaultyCluster::Account FaultyCluster::TakeStock() const {
  Account account;
  std::map<std::string, int> told;  // job -> how often "recorded" was answered
  std::set<std::string> finished;   // jobs some worker brought a result of
  for (int i = 1; i <= kWorkers; ++i) {
    for (const absl::string_view line : absl::StrSplit(Log(absl::StrCat("w", i)), '\n')) {
      const std::string job = Field(line, "job_id");
      if (absl::StrContains(line, "msg=\"job accepted\"")) {
        account.accepted.insert(job);
        ++account.executions;
      } else if (absl::StrContains(line, "msg=\"result acknowledged\"")) {
        finished.insert(job);
        ++account.acknowledged;
        told[job] += Field(line, "as") == "RECORDED";
      } else if (absl::StrContains(line, "set aside")) {
        finished.insert(job);
      }
    }
  }
  const std::string db = Path("state/ksearch.db");
  for (const auto& row : Query(db, "SELECT job_id FROM results")) account.recorded.insert(row[0]);
  account.open =
      static_cast<int>(Query(db, "SELECT lease_id FROM attempts WHERE ended = ''").size());
  std::set_difference(finished.begin(), finished.end(), account.recorded.begin(),
                      account.recorded.end(), std::back_inserter(account.lost));
  for (const auto& [job, times] : told) account.doubled += times > 1;
  return account;
}

}  // namespace ksearch
