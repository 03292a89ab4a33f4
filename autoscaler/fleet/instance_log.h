#ifndef KSEARCH_AUTOSCALER_FLEET_INSTANCE_LOG_H_
#define KSEARCH_AUTOSCALER_FLEET_INSTANCE_LOG_H_

#include <string>

namespace ksearch {

// Where the log of an instance is, as the end of a sentence: ": see LOG", and what its last line
// says if LOG is a file that this process can read. "" for "".
std::string SeeLog(const std::string& log);

}  // namespace ksearch

#endif  // KSEARCH_AUTOSCALER_FLEET_INSTANCE_LOG_H_
