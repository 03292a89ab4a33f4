#include "common/digest.h"

#include <openssl/sha.h>
#include <sys/random.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace ksearch {

std::string Sha256Hex(absl::string_view bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

bool IsSha256Hex(absl::string_view text) {
  if (text.size() != 64) return false;
  for (char c : text) {
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
  }
  return true;
}

std::string RandomHex(int bytes) {
  std::string raw(static_cast<size_t>(bytes), '\0');
  size_t filled = 0;
  while (filled < raw.size()) {
    const ssize_t n = getrandom(raw.data() + filled, raw.size() - filled, 0);
    if (n > 0) filled += static_cast<size_t>(n);
  }
  return absl::BytesToHexString(raw);
}

uint64_t RandomUint64() {
  uint64_t value = 0;
  while (getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) {
  }
  return value;
}

CanonicalBytes& CanonicalBytes::Add(absl::string_view field) {
  absl::StrAppend(&bytes_, "s", field.size(), ":", field);
  return *this;
}

CanonicalBytes& CanonicalBytes::Add(int64_t field) {
  absl::StrAppend(&bytes_, "i", field, ";");
  return *this;
}

CanonicalBytes& CanonicalBytes::AddDouble(double field) {
  uint64_t bits = 0;
  std::memcpy(&bits, &field, sizeof bits);
  absl::StrAppend(&bytes_, "d", absl::Hex(bits, absl::kZeroPad16), ";");
  return *this;
}

}  // namespace ksearch
