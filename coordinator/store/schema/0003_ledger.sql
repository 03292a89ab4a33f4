-- Schema version 3: what a call may cost and did cost, and one ledger per run with its caps.

ALTER TABLE llm_calls ADD COLUMN admitted INTEGER NOT NULL DEFAULT 1;     -- 0: waits for its reservation
ALTER TABLE llm_calls ADD COLUMN reserved_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE llm_calls ADD COLUMN reserved_nano INTEGER NOT NULL DEFAULT 0;
ALTER TABLE llm_calls ADD COLUMN sent_unix_us INTEGER;                    -- NULL: not sent since admitted
-- Sends whose reply was lost with the process that waited for it; they count in full.
ALTER TABLE llm_calls ADD COLUMN lost_sends INTEGER NOT NULL DEFAULT 0;
ALTER TABLE llm_calls ADD COLUMN lost_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE llm_calls ADD COLUMN lost_nano INTEGER NOT NULL DEFAULT 0;
-- Written with the reply; NULL before, and for replies of versions 1 and 2.
ALTER TABLE llm_calls ADD COLUMN uncached_input INTEGER;
ALTER TABLE llm_calls ADD COLUMN cache_read INTEGER;
ALTER TABLE llm_calls ADD COLUMN cache_write_5m INTEGER;
ALTER TABLE llm_calls ADD COLUMN cache_write_1h INTEGER;
ALTER TABLE llm_calls ADD COLUMN visible_output INTEGER;
ALTER TABLE llm_calls ADD COLUMN reasoning_output INTEGER;
ALTER TABLE llm_calls ADD COLUMN cost_nano INTEGER;
ALTER TABLE llm_calls ADD COLUMN cost_basis TEXT;

-- Changed in the transactions that create, lose and answer calls and that ask for and record
-- evaluations, and in no other.
CREATE TABLE ledger (
  run_id           TEXT NOT NULL REFERENCES runs (run_id),
  scope            TEXT NOT NULL,                     -- '': the run; else 'PROVIDER/MODEL'
  calls            INTEGER NOT NULL DEFAULT 0,        -- sends let through
  tokens_spent     INTEGER NOT NULL DEFAULT 0,
  tokens_reserved  INTEGER NOT NULL DEFAULT 0,
  nano_spent       INTEGER NOT NULL DEFAULT 0,        -- nano-dollars
  nano_reserved    INTEGER NOT NULL DEFAULT 0,
  evaluations      INTEGER NOT NULL DEFAULT 0,        -- of the run; not those answered from the store
  device_us        INTEGER NOT NULL DEFAULT 0,        -- of the run
  cap_calls        INTEGER,                           -- NULL: none
  cap_tokens       INTEGER,
  cap_nano         INTEGER,
  PRIMARY KEY (run_id, scope)
) STRICT, WITHOUT ROWID;

-- Runs of versions 1 and 2: what they used is known, but not its price.
INSERT INTO ledger (run_id, scope) SELECT run_id, '' FROM runs;
INSERT INTO ledger (run_id, scope) SELECT DISTINCT run_id, provider || '/' || model FROM llm_calls;
UPDATE ledger SET
  calls = (SELECT count(*) FROM llm_calls AS c WHERE c.run_id = ledger.run_id AND
           ledger.scope IN ('', c.provider || '/' || c.model)),
  tokens_spent = (SELECT ifnull(sum(input_tokens + output_tokens), 0) FROM llm_calls AS c
                  WHERE c.run_id = ledger.run_id AND replied_unix_us IS NOT NULL AND
                  ledger.scope IN ('', c.provider || '/' || c.model));
UPDATE ledger SET evaluations =
  (SELECT count(DISTINCT job_id) FROM job_requests AS q WHERE q.run_id = ledger.run_id)
  WHERE scope = '';
