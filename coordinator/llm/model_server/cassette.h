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

// What a call is about; in an entry, an empty or zero part stands for any.
struct CassetteKey {
  std::string purpose;
  std::string node;
  int attempt = 0;
  int cycle = 0;

  bool operator==(const CassetteKey& other) const = default;
  // `purpose "action" node "tile" attempt 2`; empty and zero parts are left out.
  std::string ToString() const;
};

// The scripted replies, ready to be served: files read, defaults filled in. Immutable.
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
  // Content of the file that an entry names.
  using FileReader = std::function<absl::StatusOr<std::string>(const std::string& path)>;

  // The cassette in file `path`; its entries' files are relative to the folder of `path`.
  static absl::StatusOr<Cassette> Load(const std::string& path);

  // INVALID_ARGUMENT lists all faults, one a line, each as "<name>:<line>: entry 3: <what>".
  static absl::StatusOr<Cassette> Parse(absl::string_view text, absl::string_view name,
                                        const FileReader& read_file);

  // The most specific entry for `key`, by the rules in cassette.proto; null if there is none.
  const Entry* Find(const CassetteKey& key) const;
  // Keys of the entries most like `key`, with their lines, most alike first.
  std::vector<std::string> Nearest(const CassetteKey& key, size_t count) const;

  const std::string& model() const { return model_; }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::string model_;
  std::vector<Entry> entries_;
};

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_LLM_MODEL_SERVER_CASSETTE_H_
