#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

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

// Written before the record is: a token that nobody can read must not be in force.
absl::Status Create(const Options& options, NewToken* made) {
  const absl::Time now = absl::Now();
  const int days = options.days > 0 ? options.days : kDefaultDays;
  *made =
      MakeAccessToken(*RoleOfName(options.role), options.name, now, now + absl::Hours(24) * days);
  RETURN_IF_ERROR(MakeFolderOf(options.token_db));
  if (!options.out.empty()) {
    if (ReadFile(options.out, 1 << 20).ok()) {
      return absl::FailedPreconditionError(
          absl::StrCat(options.out, " exists; choose another file"));
    }
    RETURN_IF_ERROR(WriteFileAtomically(options.out, made->token + "\n", 0600));
  } else {
    // Alone on stdout, so that `ksearch token create ... > file` is right too.
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
  if (!status.ok() && !options.out.empty()) ::unlink(options.out.c_str());
  return status;
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
  std::vector<std::vector<std::string>> rows = {{"id", "role", "name", "made", "state"}};
  for (const v1::AccessToken& token : list->tokens()) {
    rows.push_back({token.token_id(), std::string(RoleName(token.role())),
                    token.name().empty() ? "-" : token.name(), Date(token.created_at()),
                    StateOf(token)});
  }
  std::fputs(Table(rows).c_str(), stdout);
  return kExitOk;
}

}  // namespace

int TokenCommand(Client* /*client*/, const Options& options) {
  if (options.action == "list") return List(options);
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
  if (options.json && !options.out.empty()) {
    PrintJson({{"token_id", made.record.token_id()},
               {"role", options.role},
               {"expires_at", Date(made.record.expires_at())},
               {"file", options.out}});
  }
  std::fprintf(stderr, "token %s, role %s, in %s; it is not shown again\n",
               made.record.token_id().c_str(), options.role.c_str(), options.token_db.c_str());
  return kExitOk;
}

}  // namespace ksearch
