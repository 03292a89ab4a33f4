#ifndef KSEARCH_COMMON_DIGEST_H_
#define KSEARCH_COMMON_DIGEST_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace ksearch {

// Lower-case hex SHA-256 (64 characters).
std::string Sha256Hex(absl::string_view bytes);

// True for 64 lower-case hex digits.
bool IsSha256Hex(absl::string_view text);

// `bytes` random bytes from the kernel, as lower-case hex. For ids and nonces.
std::string RandomHex(int bytes);
uint64_t RandomUint64();

// Builds a canonical byte string from typed fields, each prefixed by its length, so that distinct
// field sequences never collide. Serialized protos are not used for identity: their bytes are not
// stable across versions.
class CanonicalBytes {
 public:
  CanonicalBytes& Add(absl::string_view field);
  CanonicalBytes& Add(int64_t field);
  CanonicalBytes& AddDouble(double field);  // by bit pattern
  std::string Sha256() const { return Sha256Hex(bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace ksearch

#endif  // KSEARCH_COMMON_DIGEST_H_
