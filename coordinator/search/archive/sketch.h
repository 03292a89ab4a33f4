#ifndef KSEARCH_COORDINATOR_SEARCH_ARCHIVE_SKETCH_H_
#define KSEARCH_COORDINATOR_SEARCH_ARCHIVE_SKETCH_H_

#include <string>

#include "absl/strings/string_view.h"

namespace ksearch {

// A sketch of 256 bytes for estimating the similarity of two programs if no provider has
// embeddings. The similarity is the Jaccard index of the sets of runs of five tokens, estimated by
// min-wise hashing (Broder, "On the resemblance and containment of documents", 1997) with eight
// bits per hash. White space and comments are ignored. An empty program has an empty sketch.
std::string SketchOf(absl::string_view program);

// An estimate of that index, in [0, 1]. Its standard error is at most 0.032, and 0.006 at 0.99. 0
// if either sketch is empty.
double Likeness(absl::string_view a, absl::string_view b);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_SEARCH_ARCHIVE_SKETCH_H_
