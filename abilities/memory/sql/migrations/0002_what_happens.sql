-- When something happens that a person told of and still has before them, as a model read it; null for all else.
alter table memories add column happens_at timestamptz;
create index memories_ahead on memories (happens_at) where happens_at is not null;
