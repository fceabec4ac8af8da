-- Other programs of a person's, which ask their assistant by a token.

-- `token_hash` is keyed with a secret key of the installation: the table alone proves nothing. The id is also the user
-- key of the identity and the address of the conversation in which the program asks. `number` is what people call it.
create table client_tokens (
    tenant_id    text not null references tenants on delete cascade,
    id           text not null,
    number       bigint not null,
    name         text not null,
    token_hash   bytea not null unique,
    made_at      timestamptz not null,
    expires_at   timestamptz not null,
    revoked_at   timestamptz,
    last_used_at timestamptz,
    uses         bigint not null default 0,
    primary key (tenant_id, id),
    unique (tenant_id, number)
);
create index client_tokens_ended on client_tokens (least(expires_at, revoked_at));
select tenant_table('client_tokens');

alter table inbound drop constraint inbound_origin_check, add constraint inbound_origin_check
    check (origin in ('own', 'forwarded', 'via_bot', 'client')) not valid;
alter table person_audit drop constraint person_audit_what_check, add constraint person_audit_what_check check (
    what in ('code', 'linked', 'merged', 'unlinked', 'preference', 'export_link', 'exported', 'token', 'revoked'));
