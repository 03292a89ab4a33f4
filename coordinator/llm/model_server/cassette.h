#ifndef KSEARCH_COORDINATOR_LLM_MODEL_SERVER_CASSETTE_H_
#define KSEARCH_COORDINATOR_LLM_MODEL_SERVER_CASSETTE_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/cassette.pb.h"

namespace ksearch {

// The labels of a call. In an entry, an empty or zero part matches anything.
struct CassetteKey {
  std::string purpose;
  std::string node;
  int attempt = 0;
  int cycle = 0;

  bool operator==(const CassetteKey& other) const = default;
  // `purpose "action" node "tile" attempt 2`; empty and zero parts are omitted.
  std::string ToString() const;
};

// Scripted replies, ready to be served: files are read, defaults filled in. Immutable.
class Cassette {
 public:
  struct Entry {
    CassetteKey key;
    int line = 0;      // of the entry in the cassette file, from 1
    std::string text;  // the whole reply
    std::string finish_reason;
    std::optional<v1::CassetteUsage> usage;
    absl::Duration delay;
    std::optional<v1::CassetteFault> fault;
  };
  // Reads the content of the file that an entry names.
  using FileReader = std::function<absl::StatusOr<std::string>(const std::string& path)>;

  // Reads the cassette at `path`. Its entries' files are relative to the folder of `path`.
  static absl::StatusOr<Cassette> Load(const std::string& path);

  // INVALID_ARGUMENT lists all faults, one a line, each as "<name>:<line>: entry 3: <what>".
  static absl::StatusOr<Cassette> Parse(absl::string_view text, absl::string_view name,
                                        const FileReader& read_file);

  // Returns the most specific entry for `key`, by the rules in cassette.proto; null if there is
  // none.
  const Entry* Find(const CassetteKey& key) const;
  // Returns the keys of the entries most similar to `key`, with their lines, most similar first.
  std::vector<std::string> Nearest(const CassetteKey& key, size_t count) const;

  const std::string& model() const { return model_; }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::string model_;
  std::vector<Entry> entries_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_MODEL_SERVER_CASSETTE_H_
