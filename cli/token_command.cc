#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "cli/commands.h"
#include "cli/json_output.h"
#include "cli/text.h"
#include "common/access/access_token.h"
#include "common/access/token_file.h"
#include "common/status_macros.h"
#include "common/textproto.h"
#include "common/unique_fd.h"

namespace ksearch {
namespace {

constexpr int kDefaultDays = 365;

std::string Date(const google::protobuf::Timestamp& time) {
  return absl::FormatTime("%Y-%m-%d", FromProto(time), absl::UTCTimeZone());
}

std::string StateOf(const v1::AccessToken& token) {
  if (token.has_revoked_at()) return absl::StrCat("revoked ", Date(token.revoked_at()));
  if (!token.has_expires_at()) return "good";
  const bool expired = FromProto(token.expires_at()) <= absl::Now();
  return absl::StrCat(expired ? "expired " : "good until ", Date(token.expires_at()));
}

// The coordinator that will use the file may not have been started yet.
absl::Status MakeFolderOf(const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  if (!folder.empty() && ::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return ErrnoStatus(errno, absl::StrCat("create folder ", folder));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> AccessFileText(const Options& options, const std::string& token) {
  v1::AccessFile file;
  file.set_token(token);
  file.set_coordinator_address(options.coordinator);
  file.set_server_name(options.access.server_name);
  file.set_pool(options.pool);
  if (options.access.ca_file.empty()) {
    return absl::InvalidArgumentError(
        "--access-file needs --ca-file: the certificate of the authority behind the coordinator's");
  }
  ASSIGN_OR_RETURN(*file.mutable_ca(), ReadFile(options.access.ca_file, 1 << 20));
  if (!absl::StrContains(file.ca(), "-----BEGIN CERTIFICATE")) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.access.ca_file, " holds no CERTIFICATE in PEM form"));
  }
  return absl::StrCat("# proto-message: ksearch.v1.AccessFile\n",
                      "# Written by `ksearch token create`. A secret: keep its mode 0600.\n",
                      ToTextproto(file));
}

// Written before the record: a token must not be valid if nobody could read it.
absl::Status Create(const Options& options, NewToken* made) {
  const absl::Time now = absl::Now();
  const int days = options.days > 0 ? options.days : kDefaultDays;
  *made =
      MakeAccessToken(*RoleOfName(options.role), options.name, now, now + absl::Hours(24) * days);
  if (!options.pool.empty()) {
    if (made->record.role() != v1::ROLE_JOIN && made->record.role() != v1::ROLE_WORKER) {
      return absl::InvalidArgumentError("--pool is for the roles worker and join");
    }
    made->record.set_pool(options.pool);
  }
  RETURN_IF_ERROR(MakeFolderOf(options.token_db));
  const std::string& file = options.access_file.empty() ? options.out : options.access_file;
  if (!file.empty()) {
    if (ReadFile(file, 1 << 20).ok()) {
      return absl::FailedPreconditionError(absl::StrCat(file, " exists; choose another file"));
    }
    std::string text = made->token + "\n";
    if (!options.access_file.empty()) {
      ASSIGN_OR_RETURN(text, AccessFileText(options, made->token));
    }
    RETURN_IF_ERROR(WriteFileAtomically(file, text, 0600));
  } else {
    // The token alone goes to stdout, so that `ksearch token create ... > file` works, too.
    if (options.json) {
      PrintJson({{"token_id", made->record.token_id()},
                 {"role", options.role},
                 {"expires_at", Date(made->record.expires_at())},
                 {"token", made->token}});
    } else {
      std::printf("%s\n", made->token.c_str());
    }
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      return ErrnoStatus(errno, "write standard output; no token was made");
    }
  }
  const absl::Status status = UpdateTokenFile(options.token_db, [made](v1::AccessTokens* list) {
    *list->add_tokens() = made->record;
    return absl::OkStatus();
  });
  if (!status.ok() && !file.empty()) ::unlink(file.c_str());
  return status;
}

absl::Status RevokeWorker(const Options& options) {
  const std::string& id = options.token_worker;
  return UpdateTokenFile(options.token_db, [&options, &id](v1::AccessTokens* list) -> absl::Status {
    auto* const revoked = list->mutable_revoked_workers();
    const auto it = std::find_if(revoked->begin(), revoked->end(),
                                 [&id](const auto& worker) { return worker.worker_id() == id; });
    if (options.undo) {
      if (it == revoked->end()) {
        return absl::NotFoundError(absl::StrCat("worker ", id, " is not revoked"));
      }
      revoked->erase(it);
      return absl::OkStatus();
    }
    if (it != revoked->end()) return absl::OkStatus();
    v1::RevokedWorker* const worker = revoked->Add();
    worker->set_worker_id(id);
    *worker->mutable_revoked_at() = ToProto(absl::Now());
    return absl::OkStatus();
  });
}

absl::Status Revoke(const Options& options) {
  return UpdateTokenFile(options.token_db, [&options](v1::AccessTokens* list) {
    for (v1::AccessToken& token : *list->mutable_tokens()) {
      if (token.token_id() != options.token_id) continue;
      if (!token.has_revoked_at()) *token.mutable_revoked_at() = ToProto(absl::Now());
      return absl::OkStatus();
    }
    return absl::NotFoundError(absl::StrCat("no token ", options.token_id, " in ", options.token_db,
                                            " (see: ksearch token list)"));
  });
}

int List(const Options& options) {
  const auto list = ReadTokenFile(options.token_db);
  if (!list.ok()) return Fail(list.status());
  if (options.json) {
    return PrintJson(*list);
  }
  std::vector<std::vector<std::string>> rows = {{"id", "role", "name", "pool", "made", "state"}};
  for (const v1::AccessToken& token : list->tokens()) {
    rows.push_back({token.token_id(), std::string(RoleName(token.role())),
                    token.name().empty() ? "-" : token.name(),
                    token.pool().empty() ? "-" : token.pool(), Date(token.created_at()),
                    StateOf(token)});
  }
  std::fputs(Table(rows).c_str(), stdout);
  for (const v1::RevokedWorker& worker : list->revoked_workers()) {
    std::printf("worker %s revoked %s\n", worker.worker_id().c_str(),
                Date(worker.revoked_at()).c_str());
  }
  return kExitOk;
}

}  // namespace

int TokenCommand(Client* /*client*/, const Options& options) {
  if (options.action == "list") return List(options);
  if (options.action == "revoke" && !options.token_worker.empty()) {
    const absl::Status status = RevokeWorker(options);
    if (!status.ok()) return Fail(status);
    const char* const state = options.undo ? "may join" : "revoked";
    if (options.json) return PrintJson({{"worker_id", options.token_worker}, {"state", state}});
    std::printf("worker %s %s\n", options.token_worker.c_str(), state);
    return kExitOk;
  }
  if (options.action == "revoke") {
    const absl::Status status = Revoke(options);
    if (!status.ok()) return Fail(status);
    if (options.json) return PrintJson({{"token_id", options.token_id}, {"state", "revoked"}});
    std::printf("revoked %s\n", options.token_id.c_str());
    return kExitOk;
  }
  NewToken made;
  const absl::Status status = Create(options, &made);
  if (!status.ok()) return Fail(status);
  const std::string& file = options.access_file.empty() ? options.out : options.access_file;
  if (options.json && !file.empty()) {
    PrintJson({{"token_id", made.record.token_id()},
               {"role", options.role},
               {"expires_at", Date(made.record.expires_at())},
               {"file", file}});
  }
  std::fprintf(stderr, "token %s, role %s, in %s; it is not shown again\n",
               made.record.token_id().c_str(), options.role.c_str(), options.token_db.c_str());
  return kExitOk;
}

}  // namespace ksearch
