-- Schema version 6: the state of a run that has become long is kept in pieces, and a step writes those
-- that it changes (coordinator/store/state_pieces.h). `state` then names them in their order.
ALTER TABLE run_states ADD COLUMN in_pieces INTEGER NOT NULL DEFAULT 0;  -- 1: it does
CREATE TABLE run_state_pieces (
  run_id  TEXT NOT NULL REFERENCES runs (run_id),
  piece   INTEGER NOT NULL,
  body    BLOB NOT NULL,
  PRIMARY KEY (run_id, piece)
) STRICT;
