-- stands for 0001_watches cf6515c8f9b768bcc857ed47fe1d3f5c70b43011e7e4a9fe3f053b49f7b3f92a

-- New mail: how far each mailbox is read (functions/mail.sql). There is a row for each account of a person while one of
-- their tasks waits for mail, whether the account has a mailbox or not: what opens it is sealed.

-- `since`: mail that came before is not new. `mailbox`: a hash of login and server, `uid_validity` and `last_uid` the
-- position in it, null until it was read once; `read_at`: when that was last done to the end. `revision` counts what was
-- stored for the account since, last at `changed_at`. `ended`: it cannot be read until something else is stored; `problem` says why, or what went
-- wrong last.
create table mail_watches (
    tenant_id       text not null,
    service         text not null,
    account_name    text not null,
    id              text not null unique default gen_random_uuid()::text,
    since           timestamptz not null default clock_timestamp(),
    mailbox         text not null default '',
    uid_validity    bigint,
    last_uid        bigint,
    read_at         timestamptz,
    mail_at         timestamptz,
    revision        int not null default 0,
    changed_at      timestamptz,
    owner           text,
    lease_until     timestamptz,
    next_attempt_at timestamptz not null default clock_timestamp(),
    failures        int not null default 0,
    problem         text not null default '',
    ended           boolean not null default false,
    primary key (tenant_id, service, account_name),
    foreign key (tenant_id, service, account_name) references credentials on delete cascade
);
create index mail_watches_due on mail_watches (next_attempt_at) where not ended;
create index mail_watches_owner on mail_watches (owner) where owner is not null;
select tenant_table('mail_watches');
