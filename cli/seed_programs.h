#ifndef KSEARCH_CLI_SEED_PROGRAMS_H_
#define KSEARCH_CLI_SEED_PROGRAMS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/config.pb.h"
#include "proto/search_service.pb.h"

namespace ksearch {

// What `--seed-solution` names, each value one program:
//   FILE      the program in it; a file that is no main file (a header) belongs to the program
//             before it
//   FOLDER    all files of the language in it, not those of its folders; of a folder with a
//             record.json (results/...) only the files named kernel, if the record names `task`
//   run:ID    the best program of that run of the coordinator, which `best_of` asks for
// INVALID_ARGUMENT names the value that is wrong, after `given_as`; of a run or a record also if it
// is of another task than `task` (empty: any).
using ReadBest = std::function<absl::StatusOr<v1::BestReply>(const std::string& run_id)>;
absl::StatusOr<std::vector<v1::SeedProgram>> ReadSeedPrograms(
    const std::vector<std::string>& values, const std::string& task, const ReadBest& best_of,
    const std::string& given_as = "--seed-solution");

// Makes the run begin with these programs.
void SetSeedPrograms(const std::vector<v1::SeedProgram>& seeds, v1::RunConfig* config);

}  // namespace ksearch

#endif  // KSEARCH_CLI_SEED_PROGRAMS_H_
