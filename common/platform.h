#ifndef KSEARCH_COMMON_PLATFORM_H_
#define KSEARCH_COMMON_PLATFORM_H_

#include <string>

#include "proto/job.pb.h"
#include "proto/result.pb.h"

namespace ksearch {

// The platform of what was, or would be, measured on the device with the fingerprint.
v1::Platform PlatformOf(const v1::DeviceFingerprint& device);

// The part of a platform that a job of this kind depends on: a build takes no device.
v1::Platform PlatformFor(v1::JobKind kind, v1::Platform platform);

// Returns true if `platform` is all that `wanted` names; an empty field of `wanted` is met by
// anything.
bool Meets(const v1::Platform& platform, const v1::Platform& wanted);

// Returns true if nothing of it is left open.
bool IsComplete(const v1::Platform& platform);

// "NVIDIA H200 sm_90a, harness 5, nvcc 12.8 ..."; empty fields are left out. "any": all are.
std::string PlatformText(const v1::Platform& platform);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_PLATFORM_H_
