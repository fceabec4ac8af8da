-- Statements that were stored at once, by rule, and that a model reads when their person has become quiet.
create index memories_unread on memories (tenant_id, number) where extractor = 'rules, until read';
