#include "coordinator/events/sinks/jsonl_recorder.h"

#include "common/textproto.h"

namespace ksearch::sinks {

absl::Status JsonlRecorder::Record(const v1::RunEvent& event, RunFiles* files) {
  v1::RunHappening happening;
  happening.set_run_id(run_id_);
  *happening.mutable_event() = event;
  return files->Append(path_, ToJson(happening, /*with_defaults=*/false, /*pretty=*/false) + "\n");
}

}  // namespace ksearch::sinks
