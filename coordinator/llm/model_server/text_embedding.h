#ifndef KSEARCH_COORDINATOR_LLM_MODEL_SERVER_TEXT_EMBEDDING_H_
#define KSEARCH_COORDINATOR_LLM_MODEL_SERVER_TEXT_EMBEDDING_H_

#include "absl/strings/string_view.h"
#include "coordinator/llm/embedding/embedding.h"

namespace ksearch {

// The embedding that the scripted server computes in place of a model (feature hashing): words,
// numbers and signs, alone and in pairs of neighbors, are counted with signs in 256 places by their
// hashes, so that the cosine of two texts is about the share of these features that they have in
// common. The result has length 1. White space does not count; a text without anything else has a
// single nonzero number.
Embedding EmbeddingOfText(absl::string_view text);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_MODEL_SERVER_TEXT_EMBEDDING_H_
