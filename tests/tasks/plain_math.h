#ifndef KSEARCH_TESTS_TASKS_PLAIN_MATH_H_
#define KSEARCH_TESTS_TASKS_PLAIN_MATH_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ksearch {

// Arguments of one call of a task, every element decoded to double.
struct PlainArguments {
  std::map<std::string, int64_t> axes;
  std::map<std::string, double> scalars;
  std::map<std::string, std::vector<double>> inputs;
};

// What the CUDA tasks compute, written a second time from their descriptions, in double, loop by
// loop and without regard to speed. `op_type` and the input names tell the task. Outputs are not
// rounded to their types.
std::map<std::string, std::vector<double>> PlainOutputs(const std::string& op_type,
                                                        const PlainArguments& arguments);

}  // namespace ksearch

#endif  // KSEARCH_TESTS_TASKS_PLAIN_MATH_H_
