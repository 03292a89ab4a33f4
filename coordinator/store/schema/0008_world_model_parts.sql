-- Schema version 8: a world model's nodes and tombstones are kept one by one, each with the revisions
-- that it is part of, so that a revision writes what it changed, however large the tree has become
-- (coordinator/store/world_model_rows.h). `body` of world_models is then the rest of it.
ALTER TABLE world_models ADD COLUMN in_parts INTEGER NOT NULL DEFAULT 0;  -- 1: it is
CREATE TABLE world_model_parts (
  run_id       TEXT NOT NULL REFERENCES runs (run_id),
  part         INTEGER NOT NULL,                       -- which node or tombstone, in their order
  revision     INTEGER NOT NULL,                       -- from this one on
  replaced_in  INTEGER,                                -- and no more in this one; NULL: still so
  body         BLOB NOT NULL,                          -- Node or Tombstone
  PRIMARY KEY (run_id, part, revision)
) STRICT;
CREATE INDEX world_model_parts_in_use ON world_model_parts (run_id, part) WHERE replaced_in IS NULL;
