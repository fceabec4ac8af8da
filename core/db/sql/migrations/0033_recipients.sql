-- Messages to other people on a person's behalf. A recipient is nobody's identity: what they answer is handed to the
-- person, and lets nobody in. written_at is from the Clock. open: answers are waited for; answers: how many came since
-- the last message.
create table recipients (
    tenant_id  text not null references tenants on delete cascade,
    id         text not null,
    channel    text not null,
    account    text not null,
    user_key   text not null check (user_key <> ''),
    name       text not null default '',
    written_at timestamptz not null,
    open       boolean not null default true,
    answers    int not null default 0,
    primary key (tenant_id, id)
);
create index recipients_address on recipients (channel, account, user_key, written_at);
select tenant_table('recipients');

-- A conversation is with the person at an identity of theirs, or with a recipient. After two people became one, both may
-- have written to the same address.
alter table conversations alter column identity_id drop not null;
alter table conversations add column recipient_id text;
alter table conversations
    add constraint conversations_recipient_fkey foreign key (tenant_id, recipient_id)
        references recipients (tenant_id, id) on delete cascade deferrable initially immediate,
    add constraint conversations_with_check check (num_nonnulls(identity_id, recipient_id) = 1),
    drop constraint conversations_tenant_id_channel_account_peer_thread_key,
    add constraint conversations_place_key
        unique nulls not distinct (tenant_id, channel, account, peer, thread, recipient_id);

alter table outbound drop constraint outbound_kind_check;
alter table outbound add constraint outbound_kind_check
    check (kind in ('reply', 'card', 'notification', 'receipt', 'outreach'));

-- outside: its text has words of others, which the history leaves out.
alter table notifications add column outside boolean not null default false;
alter table notifications drop constraint notifications_notice_check;
alter table notifications add constraint notifications_notice_check
    check (notice in ('stopped', 'blocked', 'approval', 'answered', 'recipient_stopped', 'not_delivered'));
