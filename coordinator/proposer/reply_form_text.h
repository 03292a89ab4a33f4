#ifndef KSEARCH_COORDINATOR_PROPOSER_REPLY_FORM_TEXT_H_
#define KSEARCH_COORDINATOR_PROPOSER_REPLY_FORM_TEXT_H_

#include <string>

#include "coordinator/proposer/prompt.h"

namespace ksearch {

// How the answer must look: CodeFormatText for whole programs, else how a patch is written
// (reply/patch_reply.h reads it). Ends with a line end.
std::string ReplyFormText(const PromptFacts& facts, v1::ReplyForm form);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_PROPOSER_REPLY_FORM_TEXT_H_
