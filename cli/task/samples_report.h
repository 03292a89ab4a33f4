#ifndef KSEARCH_CLI_TASK_SAMPLES_REPORT_H_
#define KSEARCH_CLI_TASK_SAMPLES_REPORT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cli/client.h"
#include "cli/options.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// Has every sample of a run folder of KernelBench judged, one after the other; what is on record is
// not judged again. `report` says which problems there are and which of them are left out: their
// samples are not judged, and samples of no problem of it are an error. The standing of each
// sample, with its file in `sources`, by problem and sample; problems without a sample, of the
// levels that the folder has samples of, have a standing without a program.
absl::StatusOr<v1::SuiteReport> JudgeSamples(Client* client, const Options& options,
                                             const v1::SuiteReport& report);

// The standing of a problem, or of one sample, in a word: "correct", "incorrect", ...; `none` if no
// program was judged.
std::string StandingText(const v1::ProblemStanding& standing, absl::string_view none);

// The results of the samples, with fast_p and pass@k over them.
std::string SamplesText(const v1::SuiteReport& samples);

}  // namespace ksearch

#endif  // KSEARCH_CLI_TASK_SAMPLES_REPORT_H_
