#include "common/access/client_access.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/access/access_token.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

constexpr int64_t kMaxFileBytes = 1 << 20;

absl::StatusOr<std::string> ReadPem(const std::string& path, absl::string_view what) {
  if (path.empty()) return std::string();
  ASSIGN_OR_RETURN(std::string pem, ReadFile(path, kMaxFileBytes));
  if (!absl::StrContains(pem, absl::StrCat("-----BEGIN ")) || !absl::StrContains(pem, what)) {
    return absl::InvalidArgumentError(absl::StrCat(path, " holds no ", what, " in PEM form"));
  }
  return pem;
}

absl::StatusOr<std::string> ReadToken(const std::string& path) {
  std::string token, from;
  if (!path.empty()) {
    ASSIGN_OR_RETURN(token, ReadFile(path, kMaxFileBytes));
    from = path;
  } else if (const char* value = ::getenv("KSEARCH_TOKEN"); value != nullptr && *value != '\0') {
    token = value;
    from = "KSEARCH_TOKEN";
  } else {
    return std::string();
  }
  token = std::string(absl::StripAsciiWhitespace(token));
  // Bytes that are not a token may be another secret: they must be neither sent nor shown.
  if (!TokenIdOf(token).has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat(from,
                     " holds no access token (ks_<role>_<id>_<secret>, in one line; "
                     "`ksearch token create` makes one)"));
  }
  return token;
}

}  // namespace

absl::StatusOr<ClientAccess> ReadClientAccess(const ClientAccessFiles& files) {
  ClientAccess access;
  ASSIGN_OR_RETURN(access.token, ReadToken(files.token_file));
  ASSIGN_OR_RETURN(access.ca, ReadPem(files.ca_file, "CERTIFICATE"));
  ASSIGN_OR_RETURN(access.certificate, ReadPem(files.certificate_file, "CERTIFICATE"));
  ASSIGN_OR_RETURN(access.key, ReadPem(files.key_file, "PRIVATE KEY"));
  access.server_name = files.server_name;
  if (access.certificate.empty() != access.key.empty()) {
    return absl::InvalidArgumentError("tls: certificate_file and key_file go together");
  }
  if (access.ca.empty() && (!access.certificate.empty() || !access.server_name.empty())) {
    return absl::InvalidArgumentError(
        "tls: ca_file is missing: it says which certificates to believe");
  }
  return access;
}

absl::StatusOr<v1::AccessFile> ReadAccessFile(const std::string& path) {
  struct stat facts;
  if (::stat(path.c_str(), &facts) != 0) return ErrnoStatus(errno, absl::StrCat("open ", path));
  if ((facts.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s holds a token, but its mode is %04o: others may read or change it. Run "
                        "`chmod 600 %s`, and revoke the token if anyone may have seen it",
                        path, facts.st_mode & 07777, path));
  }
  if (facts.st_uid != ::geteuid() && facts.st_uid != 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, " belongs to uid ", facts.st_uid, ", neither to this account (uid ", ::geteuid(),
        ") nor to root: whoever owns it decides whom this program trusts"));
  }
  v1::AccessFile file;
  RETURN_IF_ERROR(ReadTextproto(path, &file));
  if (!TokenIdOf(file.token()).has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": token: no access token"));
  }
  if (!file.ca().empty() && !absl::StrContains(file.ca(), "-----BEGIN CERTIFICATE")) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ca: no certificate in PEM form"));
  }
  return file;
}

ClientAccess AccessOf(const v1::AccessFile& file) {
  ClientAccess access;
  access.token = file.token();
  access.ca = file.ca();
  access.server_name = file.server_name();
  return access;
}

bool IsLocalAddress(absl::string_view address) {
  if (absl::StartsWith(address, "unix:")) return true;
  if (address == "::1" || absl::StartsWith(address, "[::1]")) return true;
  const std::string host(address.substr(0, address.find(':')));
  in_addr ipv4;
  // A prefix is not enough: 127.0.0.1.example.com is another host.
  return host == "localhost" ||
         (::inet_pton(AF_INET, host.c_str(), &ipv4) == 1 && (ntohl(ipv4.s_addr) >> 24) == 127);
}

absl::Status CheckClientAccess(const std::string& address, const ClientAccess& access) {
  if (access.token.empty() || !access.ca.empty() || IsLocalAddress(address)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the access token would go to ", address,
                   " in clear text: name the authority that signed the coordinator's certificate "
                   "(--ca-file, or tls.ca_file in a worker's config)"));
}

}  // namespace ksearch
