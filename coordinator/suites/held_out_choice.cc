#include "coordinator/suites/held_out_choice.h"

#include "absl/strings/str_cat.h"

namespace ksearch {
namespace {

constexpr int kEvery = 5;
constexpr int kFirst = 2;

}  // namespace

void ChooseHeldOut(v1::Task* task) {
  const int count = task->workloads_size();
  if (count == 1) {
    const v1::Workload only = task->workloads(0);
    v1::Workload* const again = task->add_workloads();
    *again = only;
    again->set_uuid(absl::StrCat(only.uuid(), "_held_out"));
    again->set_held_out(true);
    return;
  }
  for (int i = 0; i < count; ++i) {
    task->mutable_workloads(i)->set_held_out(count < kEvery ? i + 1 == count
                                                            : i % kEvery == kFirst);
  }
}

}  // namespace ksearch
