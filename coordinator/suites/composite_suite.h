#ifndef KSEARCH_COORDINATOR_SUITES_COMPOSITE_SUITE_H_
#define KSEARCH_COORDINATOR_SUITES_COMPOSITE_SUITE_H_

#include <memory>
#include <string>
#include <vector>

#include "coordinator/tasks/task_suite.h"

namespace ksearch {

struct NamedSuite {
  std::string name;
  std::unique_ptr<TaskSuite> suite;
};

// Combines all suites into one. Tasks of `unnamed` keep their names, which contain no '/'; task T
// of a named suite S is called S/T, so that no suite can hide another. Names of suites must differ.
std::unique_ptr<TaskSuite> MakeCompositeSuite(std::unique_ptr<TaskSuite> unnamed,
                                              std::vector<NamedSuite> named);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_COMPOSITE_SUITE_H_
