#ifndef KSEARCH_COORDINATOR_STORE_DATABASE_H_
#define KSEARCH_COORDINATOR_STORE_DATABASE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "google/protobuf/message_lite.h"

struct sqlite3;
struct sqlite3_stmt;

namespace ksearch {

class Database;

// One use of a prepared statement: bind the parameters in order, then call Run, or call Next until
// it returns false. Next and Run return earlier errors of preparing and binding. The destructor
// resets the statement and hands it back to its Database, which must outlive it. Not movable: use
// as `auto s = db.Prepare()`.
class Statement {
 public:
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // The binders copy their values.
  Statement& Text(absl::string_view value);
  Statement& Blob(absl::string_view value);
  Statement& Proto(const google::protobuf::MessageLite& value);
  Statement& Int(int64_t value);
  Statement& Real(double value);
  Statement& Time(absl::Time value);  // microseconds since the Unix epoch
  Statement& Null();

  // Steps to the next row. Returns false if there is none.
  absl::StatusOr<bool> Next();
  // Steps to the end, ignoring rows.
  absl::Status Run();

  // Reads a column of the current row, counted from 0. NULL reads as "", 0 or the epoch.
  std::string TextAt(int column) const;
  int64_t IntAt(int column) const;
  double RealAt(int column) const;
  absl::Time TimeAt(int column) const;
  bool IsNullAt(int column) const;
  // DATA_LOSS if the bytes cannot be parsed as this message type.
  absl::Status ProtoAt(int column, google::protobuf::MessageLite* message) const;

 private:
  friend class Database;
  Statement(Database* database, const std::string* sql, sqlite3_stmt* statement,
            absl::Status status);
  void KeepError(int code);

  Database* const database_;
  const std::string* const sql_;  // key in the database's cache
  sqlite3_stmt* const statement_;
  absl::Status status_;
  int bound_ = 0;
};

// One SQLite connection with its prepared statements. Thread-compatible: one thread at a time.
//
// Errors: RESOURCE_EXHAUSTED: the disk is full; DATA_LOSS: corrupted, or not a database;
// PERMISSION_DENIED: read-only; UNAVAILABLE: busy, or an I/O error; FAILED_PRECONDITION: a
// constraint was violated; INVALID_ARGUMENT: a value is too large; otherwise INTERNAL. Messages
// name the file.
class Database {
 public:
  enum class Mode { kReadOnly, kReadWriteCreate };

  // Opens the file and sets foreign_keys and busy_timeout. Does not read the file yet.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& path, Mode mode);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // `sql` is one statement with ?-parameters. It is prepared once per text and cached.
  Statement Prepare(absl::string_view sql);
  // Runs any number of statements that have no parameters.
  absl::Status Execute(const std::string& sql);

  // Rows changed by the latest INSERT, UPDATE or DELETE; 0 after an ON CONFLICT DO NOTHING that did
  // nothing.
  int64_t changes() const;
  // Returns false after SQLite rolled back the whole transaction by itself (disk full, I/O error).
  bool in_transaction() const;
  const std::string& path() const { return path_; }

  // Calls `grown` after each later commit with the number of pages in the write-ahead log, and
  // disables SQLite's own copying of the log into the file.
  void OnLogGrown(std::function<void(int log_pages)> grown);
  // Copies as much of the write-ahead log into the file as is possible without waiting (a "passive"
  // checkpoint). Returns how many pages of the log are in the file. UNAVAILABLE if another
  // connection is checkpointing.
  absl::StatusOr<int> CopyLog();

  // Copies a consistent snapshot into a new file at `path`. Other connections can keep writing.
  absl::Status CopyTo(const std::string& path);

 private:
  friend class Statement;
  Database(std::string path, sqlite3* connection);
  absl::Status Error(int code, absl::string_view doing) const;

  const std::string path_;
  sqlite3* const connection_;
  // Idle prepared statements by text. Statements in use are not listed.
  std::map<std::string, std::vector<sqlite3_stmt*>, std::less<>> idle_;
  std::function<void(int log_pages)> log_grown_;
};

// Returns the first column of the first row of a statement without parameters, or 0 if there is no
// row.
absl::StatusOr<int64_t> ReadNumber(Database& database, absl::string_view sql);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_STORE_DATABASE_H_
