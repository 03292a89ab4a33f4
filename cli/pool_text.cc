#include "cli/pool_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/text.h"
#include "common/language.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

std::string Seconds(const google::protobuf::Duration& duration) {
  return absl::FormatDuration(absl::Trunc(FromProto(duration), absl::Seconds(1)));
}

std::string NeedsText(const v1::WorkerRequirement& needs) {
  std::vector<std::string> words;
  if (needs.build_only()) {
    words.push_back("a compiler");
  } else if (!needs.device_model().empty()) {
    words.push_back(needs.device_model());
  } else if (needs.device_class() == v1::DEVICE_CLASS_CUDA) {
    words.push_back("any NVIDIA GPU");
  } else {
    words.push_back("any processor");
  }
  if (!needs.architecture().empty()) words.push_back(needs.architecture());
  std::vector<std::string> languages;
  for (const int language : needs.languages()) {
    languages.emplace_back(LanguageName(static_cast<v1::Language>(language)));
  }
  if (!languages.empty()) words.push_back(absl::StrJoin(languages, "+"));
  return absl::StrJoin(words, ", ");
}

}  // namespace

std::string PoolsText(const google::protobuf::RepeatedPtrField<v1::PoolStatus>& pools,
                      absl::Time now) {
  if (pools.empty()) return "";
  std::string wrong;
  std::vector<std::vector<std::string>> rows = {{"pool", "provider", "wanted", "pending", "running",
                                                 "connected", "most", "spent", "last action"}};
  for (const v1::PoolStatus& pool : pools) {
    const v1::PoolReport& report = pool.report();
    rows.push_back(
        {report.pool(), report.provider(), absl::StrCat(report.wanted()),
         absl::StrCat(report.pending()), absl::StrCat(report.running()),
         absl::StrCat(report.connected()), absl::StrCat(report.most()),
         report.nano_usd_per_hour() == 0
             ? "-"
             : absl::StrFormat("$%.2f", static_cast<double>(report.nano_usd_spent()) * 1e-9),
         report.last_action().empty() ? "-" : report.last_action()});
    if (!pool.held()) {
      absl::StrAppend(&wrong, "pool ", report.pool(), ": its autoscaler on ", report.host(),
                      " has not reported for ",
                      absl::FormatDuration(
                          absl::Trunc(now - FromProto(pool.last_report_at()), absl::Seconds(1))),
                      "\n");
    } else if (!report.fault().empty()) {
      absl::StrAppend(&wrong, "pool ", report.pool(), ": ", report.fault());
      if (report.has_retry_in()) {
        absl::StrAppend(&wrong, " (tried again in ", Seconds(report.retry_in()), ")");
      }
      absl::StrAppend(&wrong, "\n");
    } else if (report.pending() > 0 && !report.waits_for().empty()) {
      absl::StrAppend(&wrong, "pool ", report.pool(), ": ", report.pending(),
                      " pending: ", report.waits_for(), "\n");
    }
  }
  return absl::StrCat(Table(rows), wrong);
}

std::string DemandText(const v1::DemandReply& demand) {
  if (demand.demands().empty()) {
    return absl::StrCat("no job waits for a worker; ", demand.idle_slots(), " free slots, ",
                        demand.running_runs(), " runs in progress\n");
  }
  std::string notes;
  std::vector<std::vector<std::string>> rows = {
      {"needs", "queued", "oldest", "expected", "waiting", "leased", "workers", "free slots"}};
  for (const v1::Demand& one : demand.demands()) {
    rows.push_back({NeedsText(one.requirement()), absl::StrCat(one.queued()),
                    one.queued() > 0 ? Seconds(one.oldest()) : "-",
                    one.queued() > 0 ? Seconds(one.expected_time()) : "-",
                    absl::StrCat(one.waiting_callers()), absl::StrCat(one.leased()),
                    absl::StrCat(one.workers()), absl::StrCat(one.free_slots())});
    if (one.too_short() > 0) {
      absl::StrAppend(&notes, NeedsText(one.requirement()), ": ", one.too_short(),
                      " of them may take ", Seconds(one.longest_job()),
                      ", longer than any of these workers stays\n");
    }
  }
  return absl::StrCat(Table(rows), notes);
}

}  // namespace ksearch
