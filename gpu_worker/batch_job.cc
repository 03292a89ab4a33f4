#include "gpu_worker/batch_job.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/status_macros.h"
#include "common/subprocess.h"

namespace ksearch {
namespace {

constexpr absl::Duration kAskTimeout = absl::Seconds(10);
constexpr absl::Duration kLongestJob = absl::Hours(24 * 366);

// A time in seconds since 1970; nullopt: it is missing or makes no sense.
std::optional<absl::Time> TimeIn(const Environment& environment, const std::string& name) {
  int64_t seconds = 0;
  if (!absl::SimpleAtoi(environment(name), &seconds) || seconds <= 0) return std::nullopt;
  return absl::FromUnixSeconds(seconds);
}

}  // namespace

absl::StatusOr<std::optional<absl::Duration>> ParseSlurmTimeLeft(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  if (text == "UNLIMITED") return std::optional<absl::Duration>();
  const absl::Status bad = absl::InvalidArgumentError(
      absl::StrCat("'", text.substr(0, 100), "' is not the time left of a Slurm job"));
  int64_t days = 0;
  const size_t dash = text.find('-');
  if (dash != absl::string_view::npos) {
    if (!absl::SimpleAtoi(text.substr(0, dash), &days) || days < 0 || days > 10'000) return bad;
    text.remove_prefix(dash + 1);
  }
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ':');
  if (parts.size() > 3 || (dash != absl::string_view::npos && parts.size() != 3)) return bad;
  int64_t seconds = 0;
  for (const absl::string_view part : parts) {
    int64_t number = 0;
    if (part.empty() || part.size() > 6 ||
        !absl::ascii_isdigit(static_cast<unsigned char>(part[0])) ||
        !absl::SimpleAtoi(part, &number)) {
      return bad;
    }
    seconds = seconds * 60 + number;
  }
  return std::optional<absl::Duration>(absl::Hours(24 * days) + absl::Seconds(seconds));
}

absl::StatusOr<std::optional<absl::Duration>> TimeLeftOfSlurmJob(const Environment& environment,
                                                                 absl::Time now,
                                                                 const AskSlurm& ask) {
  const std::string job_id = environment("SLURM_JOB_ID");
  if (job_id.empty()) return std::optional<absl::Duration>();
  const std::optional<absl::Time> end = TimeIn(environment, "SLURM_JOB_END_TIME");
  if (end.has_value()) {
    absl::Duration left = *end - now;
    // Both times come from one clock, which may not be this machine's.
    const std::optional<absl::Time> start = TimeIn(environment, "SLURM_JOB_START_TIME");
    if (start.has_value()) left = std::min(left, *end - *start);
    if (left > absl::ZeroDuration() && left < kLongestJob) {
      return std::optional<absl::Duration>(left);
    }
  }
  const absl::StatusOr<std::string> answer = ask(job_id);
  if (!answer.ok()) {
    return absl::UnavailableError(
        absl::StrCat("it is not known when Slurm job ", job_id, " ends (SLURM_JOB_END_TIME is ",
                     end.has_value() ? "not in the future" : "not set", ", and ",
                     answer.status().message(), "): give --lifetime"));
  }
  return ParseSlurmTimeLeft(*answer);
}

absl::StatusOr<std::string> AskSqueue(const std::string& job_id) {
  if (!std::all_of(job_id.begin(), job_id.end(),
                   [](unsigned char c) { return absl::ascii_isdigit(c); })) {
    return absl::InvalidArgumentError("SLURM_JOB_ID is not a number");
  }
  SubprocessOptions options;
  options.argv = {"squeue", "-h", "-j", job_id, "-O", "TimeLeft"};
  for (const char* name : {"PATH", "HOME", "SLURM_CONF"}) {
    if (const char* value = std::getenv(name); value != nullptr) options.environment[name] = value;
  }
  ASSIGN_OR_RETURN(const CommandOutput output, RunCommand(std::move(options), kAskTimeout));
  if (output.timed_out) return absl::DeadlineExceededError("squeue does not answer");
  if (output.exit.signaled || output.exit.code != 0) {
    return absl::UnavailableError(
        absl::StrCat("squeue says: ", absl::StripAsciiWhitespace(output.err).substr(0, 200)));
  }
  return output.out;
}

Environment ProcessEnvironment() {
  return [](const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return std::string(value == nullptr ? "" : value);
  };
}

}  // namespace ksearch
