#ifndef KSEARCH_COORDINATOR_SEARCH_ARCHIVE_KNOWN_EMBEDDINGS_H_
#define KSEARCH_COORDINATOR_SEARCH_ARCHIVE_KNOWN_EMBEDDINGS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "coordinator/llm/embedding/embedding.h"
#include "coordinator/search/program_shelf.h"
#include "proto/search_state.pb.h"

namespace ksearch {

// The similarity of two programs.
struct Similarity {
  double value = 0;         // at most 1
  bool by_meaning = false;  // the cosine of their embeddings; else the likeness of their sketches
};

// Measures the similarity of programs: by their embeddings if both have one, else by their
// sketches. A state refers to an embedding by the number of the call whose reply it is; each is
// read once and kept. Thread-compatible.
class KnownEmbeddings {
 public:
  // `shelf` may be null: then there are no embeddings.
  explicit KnownEmbeddings(std::shared_ptr<const ProgramShelf> shelf) : shelf_(std::move(shelf)) {}

  Similarity Compare(const v1::ProgramFeatures& a, const v1::ProgramFeatures& b);

 private:
  // Null if there is none, or if it cannot be read.
  const Embedding* Find(int64_t call_number);

  const std::shared_ptr<const ProgramShelf> shelf_;
  std::map<int64_t, Embedding> kept_;  // by call number
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_ARCHIVE_KNOWN_EMBEDDINGS_H_
