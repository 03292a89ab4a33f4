#include "coordinator/search/code_answer.h"

#include "absl/strings/str_cat.h"
#include "coordinator/world_model/text.h"

namespace ksearch {
namespace {

constexpr size_t kMaxRefusal = 300;
constexpr size_t kMaxIdea = 250;
constexpr size_t kMaxRefusedReply = 8 << 10;

}  // namespace

absl::StatusOr<v1::Sources> ProgramIn(const LlmReply& reply, const ParseCode& parse,
                                      v1::Language language) {
  if (reply.finish_reason == "length") {
    return absl::OutOfRangeError("the reply was cut off at the limit of its length: be brief");
  }
  if (reply.finish_reason == "refusal" || reply.finish_reason == "content_filter") {
    return absl::PermissionDeniedError(absl::StrCat("the model refused (", reply.finish_reason,
                                                    "): ", OneLine(reply.text, kMaxRefusal)));
  }
  return parse(reply.text, language);
}

std::string IdeaIn(const std::string& reply) {
  return OneLine(reply.substr(0, reply.find("<file")), kMaxIdea);
}

std::string RefusedReply(const std::string& reply) { return CutMiddle(reply, kMaxRefusedReply); }

}  // namespace ksearch
