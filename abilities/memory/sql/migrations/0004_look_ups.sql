-- What each message looks for among its person's memories: those of its turn, and one that says the same words.
create index memories_turn on memories (tenant_id, turn_id);
-- As words_alone says it: a function is replaced with each release, so no index may depend on it.
create index memories_same_words on memories
    (tenant_id, hashtextextended(btrim(regexp_replace(lower(text), '\W+', ' ', 'g')), 0))
    where valid_to is null and not held;
