-- What a message points at: the words of messages that it answers, quotes or shares, and whose they are.

alter table inbound add column points jsonb not null default '[]';
alter type arrival add attribute points jsonb;
