#include "cli/task/kernelbench_samples.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <tuple>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "coordinator/tasks/located_json.h"

namespace ksearch {
namespace {

namespace fs = std::filesystem;

struct Counts {
  int samples = 0;
  int correct = 0;
};

// By the problem's number, of those that are not left out.
std::map<int, Counts> CountsOf(const v1::SuiteReport& samples) {
  std::map<int, Counts> counts;
  for (const v1::ProblemStanding& standing : samples.problems()) {
    if (!standing.left_out().empty() || standing.sources().files_size() != 1) continue;
    const auto sample = ParseSampleName(standing.sources().files(0).path());
    if (!sample.has_value()) continue;
    Counts& problem = counts[sample->problem];
    ++problem.samples;
    if (standing.outcome() == v1::OUTCOME_PASSED) ++problem.correct;
  }
  return counts;
}

std::vector<int> KsFor(const std::map<int, Counts>& counts) {
  if (counts.empty()) return {};
  int least = counts.begin()->second.samples;
  for (const auto& [number, each] : counts) least = std::min(least, each.samples);
  return least > 1 ? std::vector<int>{1, least} : std::vector<int>{1};
}

double MeanPassAtK(const std::map<int, Counts>& counts, int k) {
  double sum = 0;
  for (const auto& [number, each] : counts) sum += PassAtK(each.samples, each.correct, k);
  return sum / static_cast<double>(counts.size());
}

bool IsBetter(const v1::ProblemStanding& a, const v1::ProblemStanding& b) {
  return std::pair(a.outcome() == v1::OUTCOME_PASSED, a.speedup()) >
         std::pair(b.outcome() == v1::OUTCOME_PASSED, b.speedup());
}

// One of each problem, in the order of their first samples, chosen by `choose(problem's, another)`.
template <typename Choose>
v1::SuiteReport OneOfEach(const v1::SuiteReport& samples, const Choose& takes) {
  v1::SuiteReport report;
  report.set_device_model(samples.device_model());
  std::map<std::string, int> places;
  for (const v1::ProblemStanding& standing : samples.problems()) {
    const auto [place, fresh] = places.emplace(standing.task(), report.problems_size());
    if (fresh) {
      *report.add_problems() = standing;
    } else if (takes(standing, report.problems(place->second))) {
      *report.mutable_problems(place->second) = standing;
    }
  }
  return report;
}

}  // namespace

std::optional<KernelBenchSample> ParseSampleName(const std::string& file) {
  const std::vector<std::string> parts = absl::StrSplit(file, '_');
  KernelBenchSample sample;
  if (parts.size() != 7 || parts[0] != "level" || parts[2] != "problem" || parts[4] != "sample" ||
      parts[6] != "kernel.py" || !absl::SimpleAtoi(parts[1], &sample.level) ||
      !absl::SimpleAtoi(parts[3], &sample.problem) || !absl::SimpleAtoi(parts[5], &sample.sample) ||
      sample.level < 1 || sample.problem < 1 || sample.sample < 0) {
    return std::nullopt;
  }
  sample.file = file;
  return sample;
}

absl::StatusOr<std::vector<KernelBenchSample>> FindSamples(const std::string& folder) {
  std::vector<KernelBenchSample> samples;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  if (error) return absl::NotFoundError(absl::StrCat(folder, ": ", error.message()));
  for (const fs::directory_iterator end; !error && entry != end; entry.increment(error)) {
    if (auto sample = ParseSampleName(entry->path().filename().string())) {
      samples.push_back(*std::move(sample));
    }
  }
  if (error) return absl::UnavailableError(absl::StrCat(folder, ": ", error.message()));
  if (samples.empty()) {
    return absl::NotFoundError(absl::StrCat(
        folder,
        " has no file level_<L>_problem_<P>_sample_<S>_kernel.py, so it is not a run folder of "
        "KernelBench"));
  }
  std::sort(samples.begin(), samples.end(), [](const auto& a, const auto& b) {
    return std::tie(a.level, a.problem, a.sample) < std::tie(b.level, b.problem, b.sample);
  });
  return samples;
}

double PassAtK(int n, int c, int k) {
  if (n - c < k) return 1;
  double none = 1;
  for (int i = n - c + 1; i <= n; ++i) none *= 1 - static_cast<double>(k) / i;
  return 1 - none;
}

v1::SuiteReport FirstSamples(const v1::SuiteReport& samples) {
  v1::SuiteReport first;
  for (const v1::ProblemStanding& standing : samples.problems()) {
    const auto& files = standing.sources().files();
    const auto sample = files.empty() ? std::nullopt : ParseSampleName(files[0].path());
    if (!sample.has_value() || sample->sample == 0) *first.add_problems() = standing;
  }
  // A problem without a sample 0 is one that nobody tried, as upstream counts.
  for (const v1::ProblemStanding& standing : samples.problems()) {
    const bool there = std::any_of(
        first.problems().begin(), first.problems().end(),
        [&](const v1::ProblemStanding& each) { return each.task() == standing.task(); });
    if (there) continue;
    v1::ProblemStanding* const missing = first.add_problems();
    missing->set_task(standing.task());
    missing->set_level(standing.level());
    missing->set_path(standing.path());
  }
  first.set_device_model(samples.device_model());
  return first;
}

v1::SuiteReport BestSamples(const v1::SuiteReport& samples) { return OneOfEach(samples, IsBetter); }

std::string PassAtKText(const v1::SuiteReport& samples) {
  const std::map<int, Counts> counts = CountsOf(samples);
  std::vector<std::string> parts;
  for (const int k : KsFor(counts)) {
    parts.push_back(absl::StrFormat("pass@%d = %.3f", k, MeanPassAtK(counts, k)));
  }
  return parts.empty() ? "" : absl::StrCat(absl::StrJoin(parts, ", "), "\n");
}

std::string PassAtKJson(const v1::SuiteReport& samples) {
  const std::map<int, Counts> counts = CountsOf(samples);
  LocatedJson averages = LocatedJson::Object(), metadata = LocatedJson::Object(),
              problems = LocatedJson::Object();
  int all = 0, correct = 0;
  for (const auto& [number, each] : counts) {
    LocatedJson problem = LocatedJson::Object();
    problem.Set("total_samples", LocatedJson::Integer(each.samples));
    problem.Set("correct_samples", LocatedJson::Integer(each.correct));
    for (const int k : KsFor(counts)) {
      problem.Set(absl::StrCat("pass@", k),
                  LocatedJson::Float(PassAtK(each.samples, each.correct, k)));
    }
    problems.Set(absl::StrCat(number), std::move(problem));
    all += each.samples;
    correct += each.correct;
  }
  const auto count = static_cast<int64_t>(counts.size());
  metadata.Set("total_problems", LocatedJson::Integer(count));
  metadata.Set("problems_with_samples", LocatedJson::Integer(count));
  metadata.Set("total_evaluated_samples", LocatedJson::Integer(all));
  metadata.Set("total_correct_samples", LocatedJson::Integer(correct));
  for (const int k : KsFor(counts)) {
    averages.Set(absl::StrCat("avg_pass@", k), LocatedJson::Float(MeanPassAtK(counts, k)));
    metadata.Set(absl::StrCat("pass@", k, "_count"), LocatedJson::Integer(count));
  }
  LocatedJson whole = LocatedJson::Object();
  whole.Set("averages", std::move(averages));
  whole.Set("metadata", std::move(metadata));
  whole.Set("problems", std::move(problems));
  return absl::StrCat(WriteJson(whole, 2), "\n");
}

}  // namespace ksearch
