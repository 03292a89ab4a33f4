#ifndef KSEARCH_COORDINATOR_PROPOSER_REPLY_FORM_TEXT_H_
#define KSEARCH_COORDINATOR_PROPOSER_REPLY_FORM_TEXT_H_

#include <string>

#include "coordinator/proposer/prompt.h"

namespace ksearch {

// Returns the required form of the answer: CodeFormatText for whole programs, otherwise the format
// of a patch (which reply/patch_reply.h reads). Ends with a newline.
std::string ReplyFormText(const PromptFacts& facts, v1::ReplyForm form);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_REPLY_FORM_TEXT_H_
