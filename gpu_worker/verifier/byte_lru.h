#ifndef KSEARCH_GPU_WORKER_VERIFIER_BYTE_LRU_H_
#define KSEARCH_GPU_WORKER_VERIFIER_BYTE_LRU_H_

#include <cstdint>
#include <iterator>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace ksearch {

// A cache that keeps the most recently used values, up to a number of bytes. A value that is in use
// elsewhere stays alive after it is dropped here. Thread-compatible.
template <typename T>
class ByteLru {
 public:
  explicit ByteLru(int64_t max_bytes) : max_bytes_(max_bytes) {}

  // Null if absent.
  std::shared_ptr<T> Find(const std::string& key) {
    const auto it = entries_.find(key);
    if (it == entries_.end()) return nullptr;
    order_.splice(order_.begin(), order_, it->second.position);
    return it->second.value;
  }

  // A value larger than the whole cache is not kept.
  void Insert(const std::string& key, std::shared_ptr<T> value, int64_t bytes) {
    Erase(key);
    if (bytes > max_bytes_) return;
    while (bytes_ + bytes > max_bytes_) Erase(std::string(order_.back()));
    order_.push_front(key);
    entries_[key] = {std::move(value), bytes, order_.begin()};
    bytes_ += bytes;
  }

  void Erase(const std::string& key) {
    const auto it = entries_.find(key);
    if (it == entries_.end()) return;
    bytes_ -= it->second.bytes;
    order_.erase(it->second.position);
    entries_.erase(it);
  }

  // Erases all values for whose key `unwanted` returns true.
  template <typename Unwanted>
  void EraseIf(const Unwanted& unwanted) {
    for (auto key = order_.begin(); key != order_.end();) {
      const auto next = std::next(key);
      if (unwanted(*key)) Erase(std::string(*key));
      key = next;
    }
  }

  void Clear() {
    entries_.clear();
    order_.clear();
    bytes_ = 0;
  }

  int64_t bytes() const { return bytes_; }
  int64_t max_bytes() const { return max_bytes_; }

 private:
  struct Entry {
    std::shared_ptr<T> value;
    int64_t bytes = 0;
    std::list<std::string>::iterator position;
  };

  const int64_t max_bytes_;
  int64_t bytes_ = 0;
  std::list<std::string> order_;  // most recently used first
  absl::flat_hash_map<std::string, Entry> entries_;
};

}  // namespace ksearch

#endif  // KSEARCH_GPU_WORKER_VERIFIER_BYTE_LRU_H_
