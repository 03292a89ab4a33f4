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

// One use of a prepared statement: bind the parameters in order, then Run, or Next until false.
// Errors of preparing and binding are kept and returned by Next and Run. Handed back to its
// Database, reset, when destroyed; must not outlive it. Not movable: use as `auto s =
// db.Prepare()`.
class Statement {
 public:
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Values are copied.
  Statement& Text(absl::string_view value);
  Statement& Blob(absl::string_view value);
  Statement& Proto(const google::protobuf::MessageLite& value);
  Statement& Int(int64_t value);
  Statement& Real(double value);
  Statement& Time(absl::Time value);  // microseconds since the Unix epoch
  Statement& Null();

  // Steps to the next row; false when there is none.
  absl::StatusOr<bool> Next();
  // Steps to the end, ignoring rows.
  absl::Status Run();

  // Column of the current row, from 0. NULL reads as "", 0 or the epoch.
  std::string TextAt(int column) const;
  int64_t IntAt(int column) const;
  double RealAt(int column) const;
  absl::Time TimeAt(int column) const;
  bool IsNullAt(int column) const;
  // DATA_LOSS if the bytes are no such message.
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
// Errors: RESOURCE_EXHAUSTED disk full, DATA_LOSS corrupted or not a database, PERMISSION_DENIED
// read-only, UNAVAILABLE busy or an I/O error, FAILED_PRECONDITION a constraint, INVALID_ARGUMENT
// value too large, else INTERNAL. Messages name the file.
class Database {
 public:
  enum class Mode { kReadOnly, kReadWriteCreate };

  // Sets foreign_keys and busy_timeout. Reads nothing yet.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& path, Mode mode);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // `sql` holds one statement with ?-parameters. Prepared once per text and kept.
  Statement Prepare(absl::string_view sql);
  // Runs any number of statements without parameters.
  absl::Status Execute(const std::string& sql);

  // Rows changed by the latest INSERT, UPDATE or DELETE; 0 if ON CONFLICT DO NOTHING did nothing.
  int64_t changes() const;
  // False after SQLite rolled back the whole transaction by itself (disk full, I/O error).
  bool in_transaction() const;
  const std::string& path() const { return path_; }

  // From now on `grown` is called after each commit, with the number of pages in the write-ahead
  // log, and SQLite copies none of them into the file by itself.
  void OnLogGrown(std::function<void(int log_pages)> grown);
  // Copies what it can of the write-ahead log into the file, waiting for nobody ("passive").
  // Returns how many of the log's pages are in the file. UNAVAILABLE if another connection is doing
  // that.
  absl::StatusOr<int> CopyLog();

  // Copies a consistent snapshot into a new file at `path`; other connections can keep writing.
  absl::Status CopyTo(const std::string& path);

 private:
  friend class Statement;
  Database(std::string path, sqlite3* connection);
  absl::Status Error(int code, absl::string_view doing) const;

  const std::string path_;
  sqlite3* const connection_;
  // Idle prepared statements by text; a statement in use is not listed.
  std::map<std::string, std::vector<sqlite3_stmt*>, std::less<>> idle_;
  std::function<void(int log_pages)> log_grown_;
};

// The first column of the first row of a statement without parameters; 0 if there is no row.
absl::StatusOr<int64_t> ReadNumber(Database& database, absl::string_view sql);

}  // namespace ksearch

#endif  // KSEARCH_COORDINATOR_STORE_DATABASE_H_
