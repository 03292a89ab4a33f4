-- Schema version 5: tasks whose own programs are known to be at fault, by the job that found it. The
-- row of a task goes when a later job (a deliberate repetition) finds it in order.
CREATE TABLE task_faults (
  evidence_key  TEXT PRIMARY KEY,                        -- common/task_evidence.h
  job_id        TEXT NOT NULL REFERENCES jobs (job_id)
) STRICT, WITHOUT ROWID;
