#include "coordinator/store/database.h"

#include <errno.h>
#include <sqlite3.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/status_macros.h"

namespace ksearch {
namespace {

// The writer is alone, so waiting is rare: a checkpoint by a person's sqlite3 shell, a recovery.
constexpr int kBusyTimeoutMs = 5000;

absl::StatusCode CodeOf(int sqlite_code, int system_errno) {
  switch (sqlite_code & 0xff) {
    case SQLITE_FULL:
      return absl::StatusCode::kResourceExhausted;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::StatusCode::kDataLoss;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return absl::StatusCode::kPermissionDenied;
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
      // Growing the -wal or -shm file reports a full disk as an I/O error.
      if (system_errno == ENOSPC || system_errno == EDQUOT) {
        return absl::StatusCode::kResourceExhausted;
      }
      if (system_errno == EACCES || system_errno == EPERM || system_errno == EROFS) {
        return absl::StatusCode::kPermissionDenied;
      }
      return absl::StatusCode::kUnavailable;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::StatusCode::kUnavailable;
    case SQLITE_CONSTRAINT:
      return absl::StatusCode::kFailedPrecondition;
    case SQLITE_TOOBIG:
      return absl::StatusCode::kInvalidArgument;
    case SQLITE_NOMEM:
      return absl::StatusCode::kResourceExhausted;
    default:
      return absl::StatusCode::kInternal;
  }
}

// SQLite takes a null pointer for NULL; an empty view may have one.
const char* NonNull(absl::string_view value) { return value.data() ? value.data() : ""; }

}  // namespace

// ---------------------------------------------------------------- Statement

Statement::Statement(Database* database, const std::string* sql, sqlite3_stmt* statement,
                     absl::Status status)
    : database_(database), sql_(sql), statement_(statement), status_(std::move(status)) {}

Statement::~Statement() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  database_->idle_[*sql_].push_back(statement_);
}

void Statement::KeepError(int code) {
  if (code != SQLITE_OK && status_.ok()) {
    status_ = database_->Error(code, absl::StrCat("bind parameter ", bound_, " of ", *sql_));
  }
}

Statement& Statement::Text(absl::string_view value) {
  if (statement_) {
    KeepError(sqlite3_bind_text64(statement_, ++bound_, NonNull(value), value.size(),
                                  SQLITE_TRANSIENT, SQLITE_UTF8));
  }
  return *this;
}

Statement& Statement::Blob(absl::string_view value) {
  if (statement_) {
    KeepError(
        sqlite3_bind_blob64(statement_, ++bound_, NonNull(value), value.size(), SQLITE_TRANSIENT));
  }
  return *this;
}

Statement& Statement::Proto(const google::protobuf::MessageLite& value) {
  return Blob(value.SerializeAsString());
}

Statement& Statement::Int(int64_t value) {
  if (statement_) KeepError(sqlite3_bind_int64(statement_, ++bound_, value));
  return *this;
}

Statement& Statement::Real(double value) {
  if (statement_) KeepError(sqlite3_bind_double(statement_, ++bound_, value));
  return *this;
}

Statement& Statement::Time(absl::Time value) { return Int(absl::ToUnixMicros(value)); }

Statement& Statement::Null() {
  if (statement_) KeepError(sqlite3_bind_null(statement_, ++bound_));
  return *this;
}

absl::StatusOr<bool> Statement::Next() {
  RETURN_IF_ERROR(status_);
  CHECK(bound_ == sqlite3_bind_parameter_count(statement_));
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  status_ = database_->Error(code, *sql_);
  return status_;
}

absl::Status Statement::Run() {
  while (true) {
    ASSIGN_OR_RETURN(const bool row, Next());
    if (!row) return absl::OkStatus();
  }
}

std::string Statement::TextAt(int column) const {
  // The pointer must be asked for before the length (a conversion may change it).
  const void* bytes = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return bytes == nullptr ? std::string() : std::string(static_cast<const char*>(bytes), size);
}

int64_t Statement::IntAt(int column) const { return sqlite3_column_int64(statement_, column); }

double Statement::RealAt(int column) const { return sqlite3_column_double(statement_, column); }

absl::Time Statement::TimeAt(int column) const { return absl::FromUnixMicros(IntAt(column)); }

bool Statement::IsNullAt(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

absl::Status Statement::ProtoAt(int column, google::protobuf::MessageLite* message) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  if (message->ParseFromArray(bytes, size)) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(database_->path(), ": column ",
                                          sqlite3_column_name(statement_, column), " is no ",
                                          message->GetTypeName(), " (", *sql_, ")"));
}

// ---------------------------------------------------------------- Database

Database::Database(std::string path, sqlite3* connection)
    : path_(std::move(path)), connection_(connection) {}

Database::~Database() {
  for (auto& [sql, statements] : idle_) {
    for (sqlite3_stmt* statement : statements) sqlite3_finalize(statement);
  }
  if (sqlite3_close(connection_) != SQLITE_OK) {
    LOG(ERROR) << "msg=\"database closed while in use\" path=" << path_;
  }
}

absl::StatusOr<std::unique_ptr<Database>> Database::Open(const std::string& path, Mode mode) {
  const int flags =
      mode == Mode::kReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* connection = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &connection, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  if (connection == nullptr) return absl::ResourceExhaustedError("no memory to open the database");
  std::unique_ptr<Database> database(new Database(path, connection));
  if (code != SQLITE_OK) return database->Error(code, "open");
  sqlite3_extended_result_codes(connection, 1);
  sqlite3_busy_timeout(connection, kBusyTimeoutMs);
  RETURN_IF_ERROR(database->Execute("PRAGMA foreign_keys = ON"));
  return database;
}

Statement Database::Prepare(absl::string_view sql) {
  auto idle = idle_.find(sql);
  if (idle == idle_.end())
    idle = idle_.emplace(std::string(sql), std::vector<sqlite3_stmt*>()).first;
  const std::string& text = idle->first;
  sqlite3_stmt* statement = nullptr;
  if (!idle->second.empty()) {
    statement = idle->second.back();
    idle->second.pop_back();
    return Statement(this, &text, statement, absl::OkStatus());
  }
  const int code = sqlite3_prepare_v3(connection_, text.c_str(), static_cast<int>(text.size()) + 1,
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  absl::Status status;
  if (code != SQLITE_OK) status = Error(code, absl::StrCat("prepare ", text));
  return Statement(this, &text, statement, std::move(status));
}

absl::Status Database::Execute(const std::string& sql) {
  const int code = sqlite3_exec(connection_, sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? absl::OkStatus() : Error(code, sql.substr(0, 200));
}

int64_t Database::changes() const { return sqlite3_changes64(connection_); }

bool Database::in_transaction() const { return sqlite3_get_autocommit(connection_) == 0; }

void Database::OnLogGrown(std::function<void(int log_pages)> grown) {
  log_grown_ = std::move(grown);
  sqlite3_wal_hook(
      connection_,
      [](void* database, sqlite3*, const char*, int log_pages) {
        static_cast<Database*>(database)->log_grown_(log_pages);
        return SQLITE_OK;
      },
      this);
}

absl::StatusOr<int> Database::CopyLog() {
  int copied_pages = 0;
  const int code = sqlite3_wal_checkpoint_v2(connection_, nullptr, SQLITE_CHECKPOINT_PASSIVE,
                                             /*pnLog=*/nullptr, &copied_pages);
  if (code != SQLITE_OK) return Error(code, "copy the log");
  return copied_pages;
}

absl::Status Database::CopyTo(const std::string& path) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> copy, Open(path, Mode::kReadWriteCreate));
  sqlite3_backup* backup = sqlite3_backup_init(copy->connection_, "main", connection_, "main");
  if (backup == nullptr) return copy->Error(sqlite3_errcode(copy->connection_), "begin backup");
  // All pages in one step: one read snapshot, so that writes meanwhile do not start it over.
  const int code = sqlite3_backup_step(backup, -1);
  const int finished = sqlite3_backup_finish(backup);
  if (code != SQLITE_DONE) return copy->Error(code, "copy pages");
  if (finished != SQLITE_OK) return copy->Error(finished, "finish backup");
  return absl::OkStatus();
}

absl::Status Database::Error(int code, absl::string_view doing) const {
  const absl::StatusCode kind = CodeOf(code, sqlite3_system_errno(connection_));
  // SQLite says "disk I/O error" where it is the log that cannot grow.
  const bool full = kind == absl::StatusCode::kResourceExhausted && (code & 0xff) != SQLITE_NOMEM;
  const bool busy = (code & 0xff) == SQLITE_BUSY;
  const char* const advice = full   ? "the disk is full, make room there: "
                             : busy ? "another program is in a transaction on it, end that: "
                                    : "";
  return absl::Status(kind,
                      absl::StrCat(path_, ": ", advice, sqlite3_errmsg(connection_), " (SQLite ",
                                   sqlite3_errstr(code), ", code ", code, "; ", doing, ")"));
}

absl::StatusOr<int64_t> ReadNumber(Database& database, absl::string_view sql) {
  Statement statement = database.Prepare(sql);
  ASSIGN_OR_RETURN(const bool row, statement.Next());
  return row ? statement.IntAt(0) : 0;
}

}  // namespace ksearch
