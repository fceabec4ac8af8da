-- attend_at: when an account is next looked after without anybody asking: its tokens are refreshed ahead of their end, or,
-- once it is revoked, its person is told to connect it again. Null: never.
alter table credentials add column attend_at timestamptz;
create index credentials_to_attend on credentials (attend_at) where attend_at is not null;
