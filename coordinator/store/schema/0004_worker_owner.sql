-- Schema version 4: whose credentials a worker_id first came with, so that after a restart of the
-- coordinator nobody else can take it. 'token/ID' or 'certificate/NAME'; '': none were in use.
ALTER TABLE workers ADD COLUMN owner TEXT NOT NULL DEFAULT '';
