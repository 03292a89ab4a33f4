#ifndef KSEARCH_COMMON_ACCESS_CERTIFICATES_H_
#define KSEARCH_COMMON_ACCESS_CERTIFICATES_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace ksearch {

// A small private certificate authority for clusters that have none: P-256 keys, SHA-256
// signatures, X.509 version 3, by the OpenSSL library.

// PEM texts.
struct KeyPair {
  std::string certificate;
  std::string key;  // PKCS #8, not encrypted: files of it get mode 0600
};

struct CertificateRequest {
  enum class Use { kServer, kWorker };
  Use use = Use::kServer;
  std::string name;  // common name; a worker's also goes into URI:ksearch://worker/NAME
  // Server only: host names and addresses that clients dial. INVALID_ARGUMENT if empty.
  std::vector<std::string> hosts;
  absl::Time not_before;
  absl::Time not_after;
};

// A self-signed authority that may sign no further authorities.
absl::StatusOr<KeyPair> MakeAuthority(absl::string_view name, absl::Time not_before,
                                      absl::Time not_after);

// INVALID_ARGUMENT: a name with characters other than [A-Za-z0-9_.-], no hosts, or an authority
// that cannot be read or whose key does not fit.
absl::StatusOr<KeyPair> IssueCertificate(const KeyPair& authority,
                                         const CertificateRequest& request);

// INVALID_ARGUMENT, naming `what`: not PEM, the key is not the certificate's, or the certificate is
// not valid at `now`.
absl::Status CheckKeyPair(const KeyPair& pair, absl::Time now, absl::string_view what);

// A new key, as in KeyPair::key.
absl::StatusOr<std::string> MakeKey();
// Returns a request in PKCS #10 and PEM form, signed with `key`, with an empty subject.
// INVALID_ARGUMENT: `key` cannot be read.
absl::StatusOr<std::string> MakeSigningRequest(const std::string& key);

// The content of a joined worker's certificate, as URI:ksearch://joined/TOKEN/WORKER/KEY/END, so
// that it can be read from a connection without parsing the certificate at every call.
struct JoinedWorker {
  std::string token_id;  // of the join token
  std::string worker_id;
  std::string key_id;  // of the worker's public key: 32 hex digits
  absl::Time ends;     // whole seconds
};

// The id of the key in a signing request. INVALID_ARGUMENT: not one in PEM form of at most 8 KiB,
// not signed with its own key, or a key that is not P-256.
absl::StatusOr<std::string> KeyIdOfRequest(const std::string& signing_request);
// Returns a certificate for the key of the request, which is checked as above; everything else in
// the request is ignored, and so is `who.key_id`, in favor of the id of that key. INVALID_ARGUMENT
// also if the other ids are not valid names.
absl::StatusOr<std::string> SignJoinedWorker(const KeyPair& authority,
                                             const std::string& signing_request,
                                             const JoinedWorker& who, absl::Time not_before);
// nullopt for any other URI.
std::optional<JoinedWorker> JoinedWorkerOfUri(absl::string_view uri);
// Returns the time at which a certificate expires. INVALID_ARGUMENT: not a certificate in PEM form.
absl::StatusOr<absl::Time> EndOfCertificate(const std::string& certificate);

// NAME of "ksearch://worker/NAME"; nullopt for any other URI.
std::optional<std::string> WorkerNameOfUri(absl::string_view uri);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_ACCESS_CERTIFICATES_H_
