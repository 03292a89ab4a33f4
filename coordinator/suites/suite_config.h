#ifndef KSEARCH_COORDINATOR_SUITES_SUITE_CONFIG_H_
#define KSEARCH_COORDINATOR_SUITES_SUITE_CONFIG_H_

#include <string>

#include "proto/config.pb.h"

namespace ksearch {

// What a suite's tasks are timed on, unless its own files say: GPUs by default.
inline v1::DeviceClass DeviceOf(const v1::SuiteConfig& config) {
  return config.device() == v1::DEVICE_CLASS_CPU ? v1::DEVICE_CLASS_CPU : v1::DEVICE_CLASS_CUDA;
}

// What names of its tasks begin with: its kind by default.
inline const std::string& NameOf(const v1::SuiteConfig& config) {
  return config.name().empty() ? config.kind() : config.name();
}

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SUITES_SUITE_CONFIG_H_
