#include "coordinator/search/archive/known_embeddings.h"

#include "common/log.h"
#include "coordinator/search/archive/sketch.h"

namespace ksearch {
namespace {

// The numbers of all embeddings together: 64 MiB. The oldest calls' are read again when needed.
constexpr size_t kMostNumbers = size_t{16} << 20;

}  // namespace

const Embedding* KnownEmbeddings::Find(int64_t call_number) {
  if (call_number == 0 || shelf_ == nullptr) return nullptr;
  if (const auto kept = kept_.find(call_number); kept != kept_.end()) return &kept->second;
  const absl::StatusOr<LlmReply> reply = shelf_->ReadReply(call_number);
  absl::StatusOr<Embedding> embedding =
      reply.ok() ? DecodeEmbedding(reply->text) : absl::StatusOr<Embedding>(reply.status());
  if (!embedding.ok()) {
    LOG(WARNING) << "call=" << call_number
                 << " msg=\"embedding cannot be read\" error=" << embedding.status().message();
    return nullptr;
  }
  return &kept_.emplace(call_number, *std::move(embedding)).first->second;
}

Similarity KnownEmbeddings::Compare(const v1::ProgramFeatures& a, const v1::ProgramFeatures& b) {
  const Embedding* const left = Find(a.embedding_call());
  const Embedding* const right = left == nullptr ? nullptr : Find(b.embedding_call());
  Similarity found;
  // Another model's embeddings may have another length.
  if (right != nullptr && left->size() == right->size()) {
    found = {CosineOf(*left, *right), /*by_meaning=*/true};
  } else {
    found = {Likeness(a.sketch(), b.sketch()), /*by_meaning=*/false};
  }
  while (!kept_.empty() && kept_.size() * kept_.begin()->second.size() > kMostNumbers) {
    kept_.erase(kept_.begin());
  }
  return found;
}

}  // namespace ksearch
