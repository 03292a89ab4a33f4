#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "common/access/certificates.h"
#include "common/status_macros.h"
#include "common/textproto.h"

namespace ksearch {
namespace {

constexpr int kAuthorityDays = 3650;
constexpr int kCertificateDays = 365;
// Clocks of a cluster differ a little.
constexpr absl::Duration kClockSlack = absl::Hours(1);

absl::Status WritePair(const std::string& stem, const KeyPair& pair, bool json) {
  // A mistyped command must not destroy a key that is in use.
  for (const std::string& path : {absl::StrCat(stem, ".pem"), absl::StrCat(stem, ".key")}) {
    if (::access(path.c_str(), F_OK) == 0) {
      return absl::FailedPreconditionError(
          absl::StrCat(path, " exists: move it away, or choose another --out or --ca-dir"));
    }
  }
  RETURN_IF_ERROR(WriteFileAtomically(absl::StrCat(stem, ".key"), pair.key, 0600));
  RETURN_IF_ERROR(WriteFileAtomically(absl::StrCat(stem, ".pem"), pair.certificate));
  if (json) {
    PrintJson({{"certificate", stem + ".pem"}, {"key", stem + ".key"}});
  } else {
    std::printf("%s.pem\n%s.key\n", stem.c_str(), stem.c_str());
  }
  return absl::OkStatus();
}

absl::Status MakeFolder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return ErrnoStatus(errno, absl::StrCat("create folder ", path));
  }
  return absl::OkStatus();
}

absl::Status Init(const Options& options) {
  const absl::Time now = absl::Now();
  const int days = options.days > 0 ? options.days : kAuthorityDays;
  ASSIGN_OR_RETURN(const KeyPair authority, MakeAuthority("ksearch authority", now - kClockSlack,
                                                          now + absl::Hours(24) * days));
  RETURN_IF_ERROR(MakeFolder(options.ca_dir));
  return WritePair(options.ca_dir + "/ca", authority, options.json);
}

absl::Status Issue(const Options& options) {
  CertificateRequest request;
  const absl::Time now = absl::Now();
  request.not_before = now - kClockSlack;
  request.not_after = now + absl::Hours(24) * (options.days > 0 ? options.days : kCertificateDays);
  std::string stem;
  if (!options.worker.empty()) {
    request.use = CertificateRequest::Use::kWorker;
    request.name = options.worker;
    stem = absl::StrCat("worker-", options.worker);
  } else if (!options.hosts.empty()) {
    request.name = "ksearch-coordinator";
    request.hosts = options.hosts;
    stem = "coordinator";
  } else {
    return absl::InvalidArgumentError("pki issue needs --server HOST... or --worker NAME");
  }
  KeyPair authority;
  ASSIGN_OR_RETURN(authority.certificate, ReadFile(options.ca_dir + "/ca.pem", 1 << 20));
  ASSIGN_OR_RETURN(authority.key, ReadFile(options.ca_dir + "/ca.key", 1 << 20));
  ASSIGN_OR_RETURN(const KeyPair pair, IssueCertificate(authority, request));
  const std::string folder = options.out.empty() ? options.ca_dir : options.out;
  RETURN_IF_ERROR(MakeFolder(folder));
  return WritePair(absl::StrCat(folder, "/", stem), pair, options.json);
}

}  // namespace

int PkiCommand(Client* /*client*/, const Options& options) {
  const absl::Status status = options.action == "init" ? Init(options) : Issue(options);
  return status.ok() ? kExitOk : Fail(status);
}

}  // namespace ksearch
