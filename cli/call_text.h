#ifndef KSEARCH_CLI_CALL_TEXT_H_
#define KSEARCH_CLI_CALL_TEXT_H_

#include <string>

#include "proto/search_service.pb.h"

namespace ksearch {

// "run/7 (refine, gpt-5.4, 1200 + 300 tokens)": one line.
std::string CallLine(const v1::LlmCallSummary& call);
// The whole prompt under a heading, and the whole reply if `with_reply`.
std::string CallText(const v1::LlmCallSummary& call, bool with_reply);

}  // namespace ksearch

#endif  // KSEARCH_CLI_CALL_TEXT_H_
