#ifndef KSEARCH_AUTOSCALER_FLEET_INSTANCE_LOG_H_
#define KSEARCH_AUTOSCALER_FLEET_INSTANCE_LOG_H_

#include <string>

namespace ksearch {

// Returns ": see LOG" for the end of a sentence, followed by the last line of LOG if this process
// can read the file. Returns "" for "".
std::string SeeLog(const std::string& log);

}  // namespace ksearch

#endif  // KSEARCH_AUTOSCALER_FLEET_INSTANCE_LOG_H_
