-- Notifications: messages that people did not ask for just now. One row per piece of news, addressed to the person; it
-- becomes an outbound row in one of their conversations, at once or when quiet hours end. Times are from the Clock,
-- unless stated otherwise.

-- held: waits until not_before for the digest. queued: is in the outbox. sent: the provider accepted it. failed: it could
-- not be delivered there, and may go elsewhere. digested: was part of the notification digest_id.
create table notifications (
    tenant_id       text not null references tenants on delete cascade,
    id              text not null,
    category        text not null,
    urgency         text not null check (urgency in ('urgent', 'normal', 'low')),
    title           text not null default '',
    -- What the database has to say has no sentence yet: which notice it is, and of which channel. The sentence is made
    -- when it goes out, in the person's language; text is what it is about.
    notice          text check (notice in ('stopped', 'blocked', 'approval')),
    notice_channel  text,
    text            text not null,
    actions         jsonb not null default '[]',
    media           jsonb not null default '[]',
    dedupe_key      text not null,
    task_id         text not null default '',
    run_id          text not null default '',
    wanted          text not null default '',
    state           text not null
        check (state in ('held', 'queued', 'sent', 'failed', 'nowhere', 'muted', 'digested')),
    reason          text not null default '',
    at              timestamptz not null,
    not_before      timestamptz,
    digest_id       text,
    repeats         int not null default 0,
    conversation_id text,
    outbound_id     text,
    tried           text[] not null default '{}',
    queued_at         timestamptz,
    fall_back_at    timestamptz,
    -- For channels that nobody can answer in (push, email): it announces something that waits elsewhere.
    aside           boolean not null default false,
    sent_at         timestamptz, -- the database's
    primary key (tenant_id, id),
    check ((state = 'held') <= (not_before is not null)),
    check ((notice is null) = (notice_channel is null)),
    foreign key (tenant_id, conversation_id) references conversations on delete set null (conversation_id)
);
create index notifications_key on notifications (tenant_id, dedupe_key, at);
create index notifications_at on notifications (at);
create index notifications_queued on notifications (tenant_id, queued_at);
create index notifications_outbound on notifications (tenant_id, outbound_id);
create index notifications_conversation on notifications (tenant_id, conversation_id);
create index notifications_held on notifications (not_before) where state = 'held';
create index notifications_failed on notifications (tenant_id, id) where state = 'failed';
create index notifications_open on notifications (queued_at) where state = 'queued';
create index notifications_silent on notifications (fall_back_at) where state = 'sent' and fall_back_at is not null;
select tenant_table('notifications');
