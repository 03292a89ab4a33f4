#ifndef KSEARCH_COMMON_LANGUAGE_NAME_H_
#define KSEARCH_COMMON_LANGUAGE_NAME_H_

#include <string>

#include "proto/task.pb.h"

namespace ksearch {

// What people call it and type: "cpp", "cuda", "triton".
std::string LanguageName(v1::Language language);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_LANGUAGE_NAME_H_
