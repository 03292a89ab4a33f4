#ifndef KSEARCH_COMMON_ACCESS_CLIENT_ACCESS_H_
#define KSEARCH_COMMON_ACCESS_CLIENT_ACCESS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/access.pb.h"

namespace ksearch {

// The credentials a client shows, and the authority it trusts. Secrets: never log it.
struct ClientAccess {
  std::string token;  // empty: none
  // PEM. A CA means TLS; all empty means plain TCP or a Unix-domain socket.
  std::string ca;
  std::string certificate;  // the client's own, with `key`
  std::string key;
  std::string server_name;  // expected of the server; empty: the host of the address
  // A worker's name for itself, which a coordinator that refuses it shows to people.
  std::string worker_name;
};

// The origins of the parts of a ClientAccess. Empty names are omitted.
struct ClientAccessFiles {
  std::string token_file;  // one line
  std::string ca_file;
  std::string certificate_file;
  std::string key_file;
  std::string server_name;
};

// Reads the files; without token_file the environment variable KSEARCH_TOKEN is taken, if set. The
// errors name the file: NOT_FOUND, PERMISSION_DENIED, INVALID_ARGUMENT (no token in it, no PEM,
// a certificate without its key, or TLS without a CA).
absl::StatusOr<ClientAccess> ReadClientAccess(const ClientAccessFiles& files);

// Reads an access file (v1::AccessFile). NOT_FOUND. FAILED_PRECONDITION: others than its owner may
// read or write it, or its owner is neither this account nor root. INVALID_ARGUMENT: it is not
// such a file, or its token or certificate cannot be read. Each error names the file.
absl::StatusOr<v1::AccessFile> ReadAccessFile(const std::string& path);
ClientAccess AccessOf(const v1::AccessFile& file);

// True for 127.0.0.0/8, [::1], localhost and unix: addresses, with or without a port: what stays on
// this machine.
bool IsLocalAddress(absl::string_view address);

// OK, or INVALID_ARGUMENT if the token would cross a network in clear text.
absl::Status CheckClientAccess(const std::string& address, const ClientAccess& access);

}  // namespace ksearch

#endif  // KSEARCH_COMMON_ACCESS_CLIENT_ACCESS_H_
