#include "coordinator/events/sinks/sink_table.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "common/log.h"
#include "common/sink_argument.h"
#include "coordinator/events/sinks/jsonl_recorder.h"
#include "coordinator/events/sinks/tensorboard_recorder.h"
#include "coordinator/events/sinks/wandb_recorder.h"

namespace ksearch::sinks {
namespace {

struct Kind {
  absl::string_view name;
  // Whether the fields `project` and `entity` apply to it.
  bool has_projects = false;
  std::unique_ptr<RunRecorder> (*make)(const v1::SinkConfig& sink, const std::string& run_id,
                                       const v1::RunConfig& config, RunReader reader);
};

// docs/integrations.md has a section on each.
constexpr Kind kKinds[] = {
    {kSinkKinds[0], false,
     [](const v1::SinkConfig&, const std::string& run_id, const v1::RunConfig&, RunReader)
         -> std::unique_ptr<RunRecorder> { return std::make_unique<JsonlRecorder>(run_id); }},
    {kSinkKinds[1], true,
     [](const v1::SinkConfig& sink, const std::string& run_id, const v1::RunConfig& config,
        RunReader reader) -> std::unique_ptr<RunRecorder> {
       return std::make_unique<WandbRecorder>(
           run_id, config,
           WandbRecorder::Options{sink.project(), sink.entity(), sink.without_sources()},
           std::move(reader));
     }},
    {kSinkKinds[2], false,
     [](const v1::SinkConfig&, const std::string& run_id, const v1::RunConfig&, RunReader)
         -> std::unique_ptr<RunRecorder> { return std::make_unique<TensorboardRecorder>(run_id); }},
};

static_assert(std::size(kKinds) == std::size(kSinkKinds));

const Kind* Find(absl::string_view name) {
  const auto* const found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                         [name](const Kind& kind) { return kind.name == name; });
  return found == std::end(kKinds) ? nullptr : found;
}

}  // namespace

std::vector<std::string> SinkKinds() {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

std::unique_ptr<RunRecorder> MakeRecorder(const v1::SinkConfig& sink, const std::string& run_id,
                                          const v1::RunConfig& config, RunReader reader) {
  const Kind* const kind = Find(sink.kind());
  CHECK(kind != nullptr);
  return kind->make(sink, run_id, config, std::move(reader));
}

absl::Status CheckSinks(const google::protobuf::RepeatedPtrField<v1::SinkConfig>& sinks) {
  std::vector<std::string> faults;
  std::set<std::string> names;
  for (int i = 0; i < sinks.size(); ++i) {
    const v1::SinkConfig& sink = sinks.Get(i);
    const std::string field = absl::StrCat("sinks[", i, "]");
    const Kind* const kind = Find(sink.kind());
    if (kind == nullptr) {
      faults.push_back(absl::StrCat(field, ".kind '", sink.kind(), "' must be one of ",
                                    absl::StrJoin(SinkKinds(), ", ")));
      continue;
    }
    if (!kind->has_projects && (!sink.project().empty() || !sink.entity().empty())) {
      faults.push_back(
          absl::StrCat(field, ": project and entity do not apply to kind ", sink.kind()));
    }
    const std::string& name = sink.name().empty() ? sink.kind() : sink.name();
    if (SafeName(name) != name) {
      faults.push_back(absl::StrCat(field, ".name '", name,
                                    "' must be of letters, digits, '_', '.' and '-', at most 60"));
    } else if (!names.insert(name).second) {
      faults.push_back(absl::StrCat(field, ".name '", name, "' is used twice"));
    }
  }
  return faults.empty() ? absl::OkStatus()
                        : absl::InvalidArgumentError(absl::StrJoin(faults, "; "));
}

v1::SinkConfig WithDefaults(v1::SinkConfig sink, const std::string& state_dir) {
  if (sink.name().empty()) sink.set_name(sink.kind());
  if (sink.folder().empty()) sink.set_folder(absl::StrCat("sinks/", sink.name()));
  if (!absl::StartsWith(sink.folder(), "/")) {
    sink.set_folder(absl::StrCat(state_dir, "/", sink.folder()));
  }
  return sink;
}

}  // namespace ksearch::sinks
