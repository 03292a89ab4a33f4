#ifndef KSEARCH_COORDINATOR_LLM_MODEL_SERVER_TEXT_EMBEDDING_H_
#define KSEARCH_COORDINATOR_LLM_MODEL_SERVER_TEXT_EMBEDDING_H_

#include "absl/strings/string_view.h"
#include "coordinator/llm/embedding/embedding.h"

namespace ksearch {

// What the scripted server embeds with in a model's place: words, numbers and signs, alone and in
// pairs of neighbors, counted in 256 places by their hashes, with signs, so that the cosine of two
// texts is about the share of these that both have (feature hashing). Of length 1. White space does
// not count; a text without anything else has one number.
Embedding EmbeddingOfText(absl::string_view text);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_MODEL_SERVER_TEXT_EMBEDDING_H_
