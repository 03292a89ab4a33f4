#include "coordinator/packet/packet_delta.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "coordinator/packet/kernel_lines.h"
#include "coordinator/packet/packet_format.h"

namespace ksearch::packet {
namespace {

constexpr size_t kMaxKernels = 3;
constexpr size_t kMaxItems = 8;  // a kernel
constexpr double kMoved = 0.1;
// Percentages near zero move by large factors without meaning anything.
constexpr double kMovedPoints = 2;

struct Item {
  const char* name;
  std::optional<double> now, before;
  enum Unit { kPlain, kPercent, kBytes, kMicroseconds } unit = kPlain;
};

std::string Value(double value, Item::Unit unit) {
  switch (unit) {
    case Item::kPercent:
      return absl::StrFormat("%.0f", value);
    case Item::kBytes:
      return Bytes(value);
    case Item::kMicroseconds:
      return Number(value);
    default:
      return Count(value);
  }
}

std::string Moved(const std::vector<Item>& items) {
  std::vector<std::string> moved;
  for (const Item& item : items) {
    if (!item.now.has_value() || !item.before.has_value() || moved.size() == kMaxItems) continue;
    const double change = *item.now - *item.before;
    if (!(std::abs(change) > kMoved * std::abs(*item.before))) continue;
    if (item.unit == Item::kPercent && std::abs(change) < kMovedPoints) continue;
    std::string text = absl::StrCat(item.name, " ", Value(*item.before, item.unit), " -> ",
                                    Value(*item.now, item.unit));
    if (item.unit == Item::kPercent) text += " %";
    if (item.unit == Item::kMicroseconds) text += " us";
    moved.push_back(std::move(text));
  }
  return absl::StrJoin(moved, ", ");
}

std::vector<Item> BuildItems(const v1::KernelFacts& now, const v1::KernelFacts& before) {
  const auto both = [&](const char* name, auto get) {
    return Item{name, static_cast<double>(get(now)), static_cast<double>(get(before))};
  };
  std::vector<Item> items = {
      both("registers", [](const auto& k) { return k.registers(); }),
      both("spilled bytes",
           [](const auto& k) {
             return static_cast<double>(k.spill_store_bytes()) +
                    static_cast<double>(k.spill_load_bytes());
           }),
      both("static shared bytes", [](const auto& k) { return k.static_shared_bytes(); }),
  };
  if (now.has_sass() && before.has_sass()) {
    items.push_back(both("instructions", [](const auto& k) { return k.sass().instructions(); }));
    items.push_back(both("matrix instructions", [](const auto& k) { return k.sass().tensor(); }));
    items.push_back(both("global loads", [](const auto& k) { return k.sass().global_loads(); }));
    items.push_back(
        both("wide global loads", [](const auto& k) { return k.sass().wide_global_loads(); }));
    items.push_back(both("asynchronous copies", [](const auto& k) {
      return int64_t{k.sass().async_copies()} + k.sass().bulk_copies();
    }));
  }
  return items;
}

std::vector<Item> ProfileItems(const v1::KernelProfile& now, const v1::KernelProfile& before) {
  std::vector<Item> items;
  const auto add = [&](const char* name, Item::Unit unit, auto has, auto get) {
    Item item{name, std::nullopt, std::nullopt, unit};
    if (has(now)) item.now = get(now);
    if (has(before)) item.before = get(before);
    items.push_back(item);
  };
#define KSEARCH_MOVED(name, unit, field)                                            \
  add(                                                                              \
      name, Item::unit, [](const v1::KernelProfile& k) { return k.has_##field(); }, \
      [](const v1::KernelProfile& k) { return static_cast<double>(k.field()); })
  items.push_back({"time", now.duration_us() * now.launches(),
                   before.duration_us() * before.launches(), Item::kMicroseconds});
  KSEARCH_MOVED("DRAM", kPercent, dram_percent);
  KSEARCH_MOVED("SM", kPercent, sm_percent);
  KSEARCH_MOVED("tensor pipe", kPercent, tensor_percent);
  KSEARCH_MOVED("L2", kPercent, l2_percent);
  KSEARCH_MOVED("issue slots", kPercent, issue_active_percent);
  KSEARCH_MOVED("occupancy", kPercent, achieved_occupancy_percent);
  KSEARCH_MOVED("registers", kPlain, registers);
  KSEARCH_MOVED("blocks an SM", kPlain, blocks_per_sm);
  KSEARCH_MOVED("waves", kPlain, waves);
  KSEARCH_MOVED("DRAM read", kBytes, dram_read_bytes);
  KSEARCH_MOVED("DRAM written", kBytes, dram_written_bytes);
  KSEARCH_MOVED("bytes used of a loaded sector", kPlain, load_bytes_per_sector);
  KSEARCH_MOVED("bank conflicts", kPlain, bank_conflicts);
  KSEARCH_MOVED("L2 hits", kPercent, l2_hit_percent);
#undef KSEARCH_MOVED
  // The reason that holds the warps back most now.
  if (now.stalls_size() > 0) {
    const v1::KernelProfile::Stall& top = now.stalls(0);
    for (const v1::KernelProfile::Stall& stall : before.stalls()) {
      if (stall.reason() != top.reason()) continue;
      items.push_back({"its top stall", 100 * top.share(), 100 * stall.share(), Item::kPercent});
    }
  }
  return items;
}

// Pairs of kernels to compare; `now` and `before` by importance.
template <typename Kernels>
auto Pairs(const Kernels& now, const Kernels& before) {
  using Kernel = std::remove_cv_t<std::remove_reference_t<decltype(now.Get(0))>>;
  std::vector<std::pair<const Kernel*, const Kernel*>> pairs;
  for (const Kernel& kernel : now) {
    const auto same = std::find_if(before.begin(), before.end(), [&](const Kernel& other) {
      return other.name() == kernel.name();
    });
    if (same != before.end() && pairs.size() < kMaxKernels) pairs.emplace_back(&kernel, &*same);
  }
  if (pairs.empty() && !now.empty() && !before.empty()) {
    pairs.emplace_back(&now.Get(0), &before.Get(0));
  }
  return pairs;
}

template <typename Kernels, typename Items>
std::vector<std::string> Compare(const Kernels& now, const Kernels& before, Items items) {
  std::vector<std::string> lines;
  for (const auto& [kernel, other] : Pairs(now, before)) {
    const std::string moved = Moved(items(*kernel, *other));
    if (moved.empty()) continue;
    std::string name = Clean(kernel->name(), 60);
    if (kernel->name() != other->name()) {
      absl::StrAppend(&name, " (there ", Clean(other->name(), 60), ")");
    }
    lines.push_back(absl::StrCat("  ", name, ": ", moved));
  }
  return lines;
}

}  // namespace

std::vector<std::string> DeltaLines(const v1::JobResult& result, const v1::JobResult& parent) {
  const bool profiled = result.profile().kernels_size() > 0 &&
                        parent.profile().kernels_size() > 0 &&
                        result.profile().workload_uuid() == parent.profile().workload_uuid();
  return profiled ? Compare(result.profile().kernels(), parent.profile().kernels(), ProfileItems)
                  : Compare(result.build().kernels(), parent.build().kernels(), BuildItems);
}

}  // namespace ksearch::packet
