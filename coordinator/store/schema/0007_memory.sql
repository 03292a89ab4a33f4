-- Schema version 7: what runs measured of changes to programs. A row outlives its run, and is removed
-- only on demand (ForgetMemory); `passed` becomes 0 when a later look at the program refuses it.
CREATE TABLE memory_gains (
  number            INTEGER PRIMARY KEY,               -- in the order of recording
  run_id            TEXT NOT NULL,
  candidate_id      TEXT NOT NULL,
  task              TEXT NOT NULL,
  op_type           TEXT NOT NULL,
  benchmark         TEXT NOT NULL,                     -- '': the task is of none
  experiment        TEXT NOT NULL,                     -- '': the run is of none
  device            TEXT NOT NULL,                     -- names of enums
  architecture      TEXT NOT NULL,
  language          TEXT NOT NULL,
  bottleneck        TEXT NOT NULL,
  intent            TEXT NOT NULL,
  over_baseline     INTEGER NOT NULL,
  passed            INTEGER NOT NULL,
  speedup           REAL,                              -- NULL: it did not pass
  recorded_unix_us  INTEGER NOT NULL,
  UNIQUE (run_id, candidate_id)
) STRICT;
CREATE INDEX memory_gains_by_kind ON memory_gains (language, device, architecture);
