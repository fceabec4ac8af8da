-- The same halt in every partition of people; it is lifted in all of them once it is in one.
alter table halts add column key text not null default gen_random_uuid()::text;
create unique index halts_key on halts (key);
