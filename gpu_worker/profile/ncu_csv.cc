#include "gpu_worker/profile/ncu_csv.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gpu_worker/build/cuda/kernel_name.h"
#include "gpu_worker/build/diagnostics.h"
#include "gpu_worker/profile/ncu_metrics.h"

namespace ksearch {
namespace {

constexpr size_t kMaxColumns = 1024;
constexpr size_t kMaxLaunches = 4096;
constexpr size_t kMaxStalls = 5;
constexpr size_t kMaxNamedMissing = 6;

using Fields = std::vector<std::string>;

// One line of CSV in which every field is quoted or free of commas; empty: it is not such a line.
Fields SplitCsv(absl::string_view line) {
  Fields fields;
  size_t i = 0;
  while (i <= line.size()) {
    if (fields.size() >= kMaxColumns) return {};
    std::string& field = fields.emplace_back();
    if (i < line.size() && line[i] == '"') {
      for (++i;; ++i) {
        if (i >= line.size()) return {};
        if (line[i] == '"') {
          ++i;
          if (i >= line.size() || line[i] != '"') break;
        }
        field += line[i];
      }
      if (i < line.size() && line[i] != ',') return {};
    } else {
      const size_t end = std::min(line.find(',', i), line.size());
      field = std::string(line.substr(i, end - i));
      i = end;
    }
    ++i;
  }
  return fields;
}

// "1,234.5" -> 1234.5. False for anything but a finite number that is not negative.
bool ReadNumber(const std::string& text, double* value) {
  if (text.empty() || text.size() > 64) return false;
  return absl::SimpleAtod(absl::StrReplaceAll(text, {{",", ""}}), value) && std::isfinite(*value) &&
         *value >= 0;
}

// The factor from `unit` to the profile's unit: microseconds, else the base unit.
double UnitFactor(absl::string_view unit) {
  static const auto& factors = *new absl::flat_hash_map<std::string, double>{
      {"ns", 1e-3},     {"nsecond", 1e-3}, {"us", 1},       {"usecond", 1}, {"ms", 1e3},
      {"msecond", 1e3}, {"s", 1e6},        {"second", 1e6}, {"Kbyte", 1e3}, {"Mbyte", 1e6},
      {"Gbyte", 1e9},   {"Tbyte", 1e12},   {"K", 1e3},      {"M", 1e6},     {"G", 1e9}};
  const absl::string_view quantity = unit.substr(0, unit.find('/'));
  const auto found = factors.find(std::string(quantity));
  return found == factors.end() ? 1.0 : found->second;
}

// "(256, 1, 1)"
bool ReadExtent(absl::string_view text, v1::GridExtent* extent) {
  text = absl::StripAsciiWhitespace(text);
  if (!absl::ConsumePrefix(&text, "(") || !absl::ConsumeSuffix(&text, ")")) return false;
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ',');
  int32_t size[3] = {1, 1, 1};
  if (parts.size() > 3) return false;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(parts[i]), &size[i]) || size[i] < 0) {
      return false;
    }
  }
  extent->set_x(size[0]);
  extent->set_y(size[1]);
  extent->set_z(size[2]);
  return true;
}

// Symbols in the form of the compiler's report; if ncu prints "void f<(int)8>(float *)" instead,
// without type and parameters.
std::string NameOf(absl::string_view name) {
  name = absl::StripAsciiWhitespace(name);
  if (absl::EndsWith(name, ")")) {
    int depth = 0;
    for (size_t i = name.size(); i-- > 0;) {
      depth += name[i] == ')' ? 1 : name[i] == '(' ? -1 : 0;
      if (depth == 0) {
        if (i > 0) name = name.substr(0, i);
        break;
      }
    }
    absl::ConsumePrefix(&name, "void ");
  }
  const std::string shown = KernelName(name);
  return shown.empty() ? "(unnamed)" : shown;
}

struct Launch {
  std::string name;
  v1::GridExtent grid, block;
  std::map<size_t, double> metrics;  // by index into NcuMetrics()
  std::map<size_t, double> stalls;   // by index into NcuStallReasons()
  double duration_us = 0;
};

// The meaning of the columns, or of the names in a "Metric Name" column.
class MetricNames {
 public:
  MetricNames() {
    for (size_t i = 0; i < NcuMetrics().size(); ++i) metrics_[NcuMetrics()[i].name] = i;
    for (size_t i = 0; i < NcuStallReasons().size(); ++i) {
      stalls_[absl::StrCat(kNcuStallPrefix, NcuStallReasons()[i], kNcuStallSuffix)] = i;
    }
  }
  void Take(const std::string& name, const std::string& unit, const std::string& text,
            Launch* launch) const {
    double value = 0;
    if (!ReadNumber(text, &value)) return;
    value *= UnitFactor(unit);
    if (name == kNcuDurationMetric) {
      // Older versions omit the unit, which is nanoseconds.
      launch->duration_us = unit.empty() ? value * 1e-3 : value;
    } else if (const auto metric = metrics_.find(name); metric != metrics_.end()) {
      launch->metrics[metric->second] = value;
    } else if (const auto stall = stalls_.find(name); stall != stalls_.end()) {
      launch->stalls[stall->second] = value;
    }
  }

 private:
  absl::flat_hash_map<std::string, size_t> metrics_, stalls_;
};

// The table among the other lines.
class Table {
 public:
  // Takes one line; false: it does not belong to the table.
  bool Take(absl::string_view line) {
    if (!absl::StartsWith(line, "\"")) return false;
    Fields fields = SplitCsv(line);
    if (fields.empty()) return false;
    if (fields[0] == "ID" && Column(fields, "Kernel Name") != kNone) {
      columns_ = std::move(fields);
      name_ = Column(columns_, "Kernel Name");
      grid_ = Column(columns_, "Grid Size");
      block_ = Column(columns_, "Block Size");
      metric_ = Column(columns_, "Metric Name");
      unit_ = Column(columns_, "Metric Unit");
      value_ = Column(columns_, "Metric Value");
      units_.assign(columns_.size(), "");
      return true;
    }
    if (columns_.empty() || fields.size() > columns_.size() || fields.size() <= name_) {
      return false;
    }
    fields.resize(columns_.size());
    if (fields[0].empty()) {
      if (metric_ == kNone) units_ = std::move(fields);
      return true;
    }
    Launch* const launch = LaunchOf(fields);
    if (launch == nullptr) return true;
    if (metric_ == kNone) {
      for (size_t i = 0; i < columns_.size(); ++i) {
        names_.Take(columns_[i], units_[i], fields[i], launch);
      }
    } else if (value_ != kNone) {
      names_.Take(fields[metric_], unit_ == kNone ? "" : fields[unit_], fields[value_], launch);
    }
    return true;
  }

  bool has_header() const { return !columns_.empty(); }
  const std::vector<Launch>& launches() const { return launches_; }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  static size_t Column(const Fields& fields, absl::string_view name) {
    const auto found = std::find(fields.begin(), fields.end(), name);
    return found == fields.end() ? kNone : static_cast<size_t>(found - fields.begin());
  }

  Launch* LaunchOf(const Fields& fields) {
    if (metric_ != kNone) {
      if (const auto known = by_id_.find(fields[0]); known != by_id_.end()) {
        return &launches_[known->second];
      }
    }
    if (launches_.size() >= kMaxLaunches) return nullptr;
    by_id_[fields[0]] = launches_.size();
    Launch& launch = launches_.emplace_back();
    launch.name = NameOf(fields[name_]);
    if (grid_ != kNone) ReadExtent(fields[grid_], &launch.grid);
    if (block_ != kNone) ReadExtent(fields[block_], &launch.block);
    return &launch;
  }

  const MetricNames names_;
  Fields columns_, units_;
  size_t name_ = kNone, grid_ = kNone, block_ = kNone, metric_ = kNone, unit_ = kNone,
         value_ = kNone;
  absl::flat_hash_map<std::string, size_t> by_id_;
  std::vector<Launch> launches_;
};

double Merged(const std::vector<const Launch*>& launches, const Launch& longest, size_t index,
              NcuMetric::Merge merge, bool* present) {
  if (merge == NcuMetric::kLongestLaunch) {
    const auto found = longest.metrics.find(index);
    *present = found != longest.metrics.end();
    return *present ? found->second : 0;
  }
  double sum = 0;
  double weights = 0;
  for (const Launch* launch : launches) {
    const auto found = launch->metrics.find(index);
    if (found == launch->metrics.end()) continue;
    // A launch without a duration gets a small weight, so that its numbers are not lost.
    const double weight =
        merge == NcuMetric::kTimeWeighted ? std::max(launch->duration_us, 1e-3) : 1.0;
    sum += weight * found->second;
    weights += weight;
  }
  *present = weights > 0 && std::isfinite(sum);
  return *present ? sum / weights : 0;
}

void AddStalls(const std::vector<const Launch*>& launches, v1::KernelProfile* kernel) {
  std::vector<double> share(NcuStallReasons().size());
  double weights = 0;
  for (const Launch* launch : launches) {
    double sum = 0;
    for (const auto& [reason, value] : launch->stalls) sum += value;
    if (!(sum > 0) || !std::isfinite(sum)) continue;
    const double weight = std::max(launch->duration_us, 1e-3);
    for (const auto& [reason, value] : launch->stalls) share[reason] += weight * value / sum;
    weights += weight;
  }
  if (!(weights > 0) || !std::isfinite(weights)) return;
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < share.size(); ++i) {
    if (share[i] > 0 && absl::string_view(NcuStallReasons()[i]) != "selected") {
      order.emplace_back(-share[i] / weights, i);
    }
  }
  std::sort(order.begin(), order.end());
  for (size_t i = 0; i < std::min(order.size(), kMaxStalls); ++i) {
    v1::KernelProfile::Stall* const stall = kernel->add_stalls();
    stall->set_reason(NcuStallReasons()[order[i].second]);
    stall->set_share(-order[i].first);
  }
}

v1::KernelProfile Summary(const std::vector<const Launch*>& launches, double all_us) {
  v1::KernelProfile kernel;
  const Launch* longest = launches[0];
  double total_us = 0;
  for (const Launch* launch : launches) {
    if (launch->duration_us > longest->duration_us) longest = launch;
    total_us += launch->duration_us;
  }
  kernel.set_name(longest->name);
  kernel.set_launches(static_cast<int32_t>(launches.size()));
  kernel.set_duration_us(total_us / static_cast<double>(launches.size()));
  if (all_us > 0) kernel.set_share(total_us / all_us);
  if (longest->grid.x() > 0) *kernel.mutable_grid() = longest->grid;
  if (longest->block.x() > 0) *kernel.mutable_block() = longest->block;
  for (size_t i = 0; i < NcuMetrics().size(); ++i) {
    bool present = false;
    const double value = Merged(launches, *longest, i, NcuMetrics()[i].merge, &present);
    if (present) NcuMetrics()[i].set(value, &kernel);
  }
  const v1::GridExtent& cluster = kernel.cluster();
  if (std::max({cluster.x(), cluster.y(), cluster.z()}) <= 1) kernel.clear_cluster();
  if (kernel.duration_us() > 0 &&
      (kernel.has_dram_read_bytes() || kernel.has_dram_written_bytes())) {
    kernel.set_dram_bytes_per_second((kernel.dram_read_bytes() + kernel.dram_written_bytes()) /
                                     kernel.duration_us() * 1e6);
  }
  AddStalls(launches, &kernel);
  return kernel;
}

void Summarize(const std::vector<Launch>& launches, v1::Profile* profile) {
  std::map<std::string, std::vector<const Launch*>> by_name;
  double all_us = 0;
  for (const Launch& launch : launches) {
    by_name[launch.name].push_back(&launch);
    all_us += launch.duration_us;
  }
  std::vector<v1::KernelProfile> kernels;
  for (const auto& [name, own] : by_name) kernels.push_back(Summary(own, all_us));
  std::stable_sort(
      kernels.begin(), kernels.end(),
      [](const v1::KernelProfile& a, const v1::KernelProfile& b) { return a.share() > b.share(); });
  const size_t shown = std::min<size_t>(kernels.size(), kMaxProfiledKernels);
  for (size_t i = 0; i < shown; ++i) *profile->add_kernels() = std::move(kernels[i]);
  profile->set_other_kernels(static_cast<int32_t>(kernels.size() - shown));
}

// Metrics that no launch has, as words.
std::string Missing(const std::vector<Launch>& launches) {
  std::vector<std::string> missing;
  const auto nowhere = [&](auto has) {
    return std::none_of(launches.begin(), launches.end(), has);
  };
  if (nowhere([](const Launch& launch) { return launch.duration_us > 0; })) {
    missing.push_back(kNcuDurationMetric);
  }
  for (size_t i = 0; i < NcuMetrics().size(); ++i) {
    if (!NcuMetrics()[i].optional &&
        nowhere([i](const Launch& launch) { return launch.metrics.count(i) > 0; })) {
      missing.push_back(NcuMetrics()[i].name);
    }
  }
  if (nowhere([](const Launch& launch) { return !launch.stalls.empty(); })) {
    missing.push_back("stall reasons");
  }
  if (missing.empty()) return "";
  const size_t more = missing.size() - std::min(missing.size(), kMaxNamedMissing);
  missing.resize(missing.size() - more);
  return absl::StrCat("not available here: ", absl::StrJoin(missing, ", "),
                      more == 0 ? "" : absl::StrCat(" and ", more, " more"));
}

// ncu's own error messages, and the meaning of the first one that matters.
struct Complaint {
  v1::Profile::Absence absence = v1::Profile::ABSENCE_UNSPECIFIED;
  std::string text;
};

void TakeComplaint(absl::string_view line, Complaint* complaint) {
  const bool error = absl::ConsumePrefix(&line, "==ERROR==");
  if (!error && !absl::ConsumePrefix(&line, "==WARNING==")) return;
  line = absl::StripAsciiWhitespace(line).substr(0, kMaxProfileNoteBytes);
  const std::string lower = absl::AsciiStrToLower(line);
  v1::Profile::Absence absence = v1::Profile::ABSENCE_UNSPECIFIED;
  if (absl::StrContains(line, "ERR_NVGPUCTRPERM") ||
      absl::StrContains(lower, "permission to access nvidia gpu performance counters")) {
    absence = v1::Profile::NOT_PERMITTED;
  } else if (absl::StrContains(lower, "not supported on this device") ||
             absl::StrContains(lower, "driver is not compatible") ||
             absl::StrContains(lower, "not supported by this driver")) {
    absence = v1::Profile::NO_PROFILER;
  } else if (error || absl::StrContains(line, "No kernels were profiled")) {
    absence = v1::Profile::FAILED;
  } else {
    return;
  }
  const bool weightier =
      complaint->absence == v1::Profile::ABSENCE_UNSPECIFIED ||
      (complaint->absence == v1::Profile::FAILED && absence != complaint->absence);
  if (!weightier) return;
  complaint->absence = absence;
  complaint->text = std::string(line);
  for (char& c : complaint->text) {
    if (!absl::ascii_isprint(static_cast<unsigned char>(c))) c = '?';
  }
}

}  // namespace

absl::StatusOr<v1::Profile> ParseNcuCsv(absl::string_view text) {
  if (text.size() > kMaxNcuOutputBytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "ncu printed ", text.size(), " bytes; at most ", kMaxNcuOutputBytes, " are read"));
  }
  Table table;
  Complaint complaint;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    absl::ConsumeSuffix(&line, "\r");
    if (!table.Take(line)) TakeComplaint(line, &complaint);
  }
  v1::Profile profile;
  if (table.launches().empty()) {
    if (complaint.absence == v1::Profile::ABSENCE_UNSPECIFIED) {
      return absl::InvalidArgumentError(table.has_header()
                                            ? "ncu's table has no row"
                                            : "ncu printed neither a table nor an error");
    }
    profile.set_absence(complaint.absence);
    profile.set_note(complaint.text);
    return profile;
  }
  Summarize(table.launches(), &profile);
  // If launches were profiled, the program's end does not affect them.
  if (absl::StartsWith(complaint.text, "The application returned")) complaint.text.clear();
  std::string note = Missing(table.launches());
  if (!complaint.text.empty()) {
    note = absl::StrCat(complaint.text, note.empty() ? "" : "; ", note);
  }
  CutUtf8(kMaxProfileNoteBytes, &note);
  profile.set_note(note);
  return profile;
}

}  // namespace ksearch
