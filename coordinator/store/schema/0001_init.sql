-- Schema version 1. See docs/results_schema.md. Times are microseconds since the Unix epoch, UTC.
-- A `body`, `config`, `status`, `spec`, `sources` or `hello` column is one serialized message of
-- package ksearch.v1; other columns repeat only what queries need.

CREATE TABLE runs (
  number           INTEGER PRIMARY KEY AUTOINCREMENT,  -- order of creation
  run_id           TEXT NOT NULL UNIQUE,
  request_id       TEXT UNIQUE,                        -- NULL: none given
  created_unix_us  INTEGER NOT NULL,
  config           BLOB NOT NULL                       -- RunConfig
) STRICT;

-- The only rows that change as a run goes on: where it stands, always as of one committed step.
CREATE TABLE run_states (
  run_id           TEXT PRIMARY KEY REFERENCES runs (run_id),
  cursor           INTEGER NOT NULL,                   -- arrivals with seq <= cursor are folded in
  last_event_seq   INTEGER NOT NULL,
  updated_unix_us  INTEGER NOT NULL,
  status           BLOB NOT NULL,                      -- RunStatus
  state            BLOB NOT NULL                       -- opaque to the store
) STRICT;

CREATE TABLE world_models (
  run_id    TEXT NOT NULL REFERENCES runs (run_id),
  revision  INTEGER NOT NULL,
  body      BLOB NOT NULL,                             -- WorldModel
  PRIMARY KEY (run_id, revision)
) STRICT;

CREATE TABLE llm_calls (
  number             INTEGER PRIMARY KEY AUTOINCREMENT,
  call_id            TEXT NOT NULL UNIQUE,
  run_id             TEXT NOT NULL REFERENCES runs (run_id),
  purpose            TEXT NOT NULL,
  node_id            TEXT NOT NULL,
  attempt            INTEGER NOT NULL,
  cycle              INTEGER NOT NULL,
  role               TEXT NOT NULL,
  provider           TEXT NOT NULL,
  model              TEXT NOT NULL,
  created_unix_us    INTEGER NOT NULL,
  max_output_tokens  INTEGER NOT NULL,
  reasoning_effort   TEXT NOT NULL,
  system             TEXT NOT NULL,
  prompt             TEXT NOT NULL,
  dropped_parts      TEXT NOT NULL,
  -- Written once, together, when the reply (or the final error) is recorded; NULL before.
  replied_unix_us    INTEGER,
  error              TEXT,
  finish_reason      TEXT,
  reply_model        TEXT,
  input_tokens       INTEGER,
  output_tokens      INTEGER,
  reply              TEXT
) STRICT;
CREATE INDEX llm_calls_unanswered ON llm_calls (run_id, number) WHERE replied_unix_us IS NULL;

-- A program text is stored once, whichever runs came up with it.
CREATE TABLE candidate_sources (
  candidate_id     TEXT PRIMARY KEY,
  language         TEXT NOT NULL,
  created_unix_us  INTEGER NOT NULL,
  sources          BLOB NOT NULL                       -- Sources
) STRICT;

CREATE TABLE candidates (
  number               INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id               TEXT NOT NULL REFERENCES runs (run_id),
  candidate_id         TEXT NOT NULL REFERENCES candidate_sources (candidate_id),
  node_id              TEXT NOT NULL,
  parent_candidate_id  TEXT NOT NULL,                  -- '': from the specification
  call_id              TEXT NOT NULL,                  -- '': a seed solution
  cycle                INTEGER NOT NULL,
  round                INTEGER NOT NULL,
  attempt              INTEGER NOT NULL,
  job_id               TEXT NOT NULL,                  -- its screening job; '': none
  UNIQUE (run_id, candidate_id)
) STRICT;

CREATE TABLE jobs (
  number           INTEGER PRIMARY KEY AUTOINCREMENT,  -- order of queueing
  job_id           TEXT NOT NULL UNIQUE,
  kind             TEXT NOT NULL,                      -- JobKind
  task_name        TEXT NOT NULL,
  candidate_id     TEXT NOT NULL,                      -- the subject
  created_unix_us  INTEGER NOT NULL,
  spec             BLOB NOT NULL                       -- JobSpec
) STRICT;
CREATE INDEX jobs_by_candidate ON jobs (candidate_id);

-- Which run asked for a job, and as what.
CREATE TABLE job_requests (
  run_id  TEXT NOT NULL REFERENCES runs (run_id),
  tag     TEXT NOT NULL,
  job_id  TEXT NOT NULL REFERENCES jobs (job_id),
  PRIMARY KEY (run_id, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_requests_by_job ON job_requests (job_id);

CREATE TABLE attempts (
  lease_id         TEXT PRIMARY KEY,
  job_id           TEXT NOT NULL REFERENCES jobs (job_id),
  attempt          INTEGER NOT NULL,
  worker_id        TEXT NOT NULL,
  started_unix_us  INTEGER NOT NULL,
  ended_unix_us    INTEGER,                            -- NULL: still held, as far as is known
  ended            TEXT NOT NULL CHECK (ended IN ('', 'recorded', 'lost', 'returned', 'cancelled')),
  note             TEXT NOT NULL
) STRICT;
CREATE INDEX attempts_by_job ON attempts (job_id);

CREATE TABLE results (
  number            INTEGER PRIMARY KEY AUTOINCREMENT,  -- order of arrival
  job_id            TEXT NOT NULL UNIQUE REFERENCES jobs (job_id),
  attempt           INTEGER NOT NULL,
  worker_id         TEXT NOT NULL,
  lease_id          TEXT NOT NULL,
  outcome           TEXT NOT NULL,                      -- Outcome
  device_id         TEXT NOT NULL,
  recorded_unix_us  INTEGER NOT NULL,
  body              BLOB NOT NULL                       -- JobResult
) STRICT;
CREATE INDEX results_by_worker ON results (worker_id);

-- The feed a run folds over, once each, in order of commit.
CREATE TABLE arrivals (
  seq     INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id  TEXT NOT NULL REFERENCES runs (run_id),
  kind    TEXT NOT NULL CHECK (kind IN ('reply', 'result')),
  ref     TEXT NOT NULL,                                -- call_id or job_id
  tag     TEXT NOT NULL,                                -- of the job request; '' for replies
  UNIQUE (run_id, kind, ref, tag)
) STRICT;
CREATE INDEX arrivals_by_run ON arrivals (run_id, seq);

CREATE TABLE events (
  run_id        TEXT NOT NULL REFERENCES runs (run_id),
  seq           INTEGER NOT NULL,                       -- from 1 within a run
  kind          TEXT NOT NULL,                          -- RunEvent.Kind
  candidate_id  TEXT NOT NULL,
  score         REAL NOT NULL,
  body          BLOB NOT NULL,                          -- RunEvent
  PRIMARY KEY (run_id, seq)
) STRICT;
CREATE INDEX events_of_passes ON events (run_id, candidate_id, seq) WHERE kind = 'CANDIDATE_PASSED';

CREATE TABLE blobs (
  sha256   TEXT PRIMARY KEY,
  content  BLOB NOT NULL
) STRICT;

CREATE TABLE workers (
  worker_id     TEXT PRIMARY KEY,
  seen_unix_us  INTEGER NOT NULL,
  hello         BLOB NOT NULL                           -- WorkerHello
) STRICT;

-- What is evidence stays as it was written; corrections are new rows.
CREATE TRIGGER results_are_final BEFORE UPDATE ON results
  BEGIN SELECT RAISE(ABORT, 'results are never updated'); END;
CREATE TRIGGER results_are_kept BEFORE DELETE ON results
  BEGIN SELECT RAISE(ABORT, 'results are never deleted'); END;
CREATE TRIGGER replies_are_final BEFORE UPDATE ON llm_calls WHEN OLD.replied_unix_us IS NOT NULL
  BEGIN SELECT RAISE(ABORT, 'replies are never updated'); END;
CREATE TRIGGER calls_are_kept BEFORE DELETE ON llm_calls
  BEGIN SELECT RAISE(ABORT, 'calls are never deleted'); END;
CREATE TRIGGER sources_are_final BEFORE UPDATE ON candidate_sources
  BEGIN SELECT RAISE(ABORT, 'sources are never updated'); END;
CREATE TRIGGER sources_are_kept BEFORE DELETE ON candidate_sources
  BEGIN SELECT RAISE(ABORT, 'sources are never deleted'); END;
CREATE TRIGGER world_models_are_final BEFORE UPDATE ON world_models
  BEGIN SELECT RAISE(ABORT, 'world models are never updated'); END;
