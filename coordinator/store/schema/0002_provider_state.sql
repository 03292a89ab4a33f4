-- What a provider needs to go on with a call after a restart, such as the id of a reply that it is
-- still working on. Changes until the reply is recorded; NULL: nothing was saved.
ALTER TABLE llm_calls ADD COLUMN provider_state TEXT;
