#ifndef KSEARCH_CLI_TASK_CHEAT_PROGRAMS_H_
#define KSEARCH_CLI_TASK_CHEAT_PROGRAMS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/task.pb.h"

namespace ksearch {

// A program that a task must refuse.
struct CheatProgram {
  std::string name;
  std::string what;  // what it does, in a few words
  v1::Sources sources;
  // Why it cannot be tried for this task; empty if it can.
  std::string missing;
};

// The cheats: zeros; a copied input; the first answer repeated; an answer without its last row.
// They are written in Python, in the language of `honest`, one of the task's own programs, which
// the last two call.
std::vector<CheatProgram> CheatPrograms(const v1::Definition& definition,
                                        const v1::Sources& honest);

}  // namespace ksearch

#endif  // KSEARCH_CLI_TASK_CHEAT_PROGRAMS_H_
