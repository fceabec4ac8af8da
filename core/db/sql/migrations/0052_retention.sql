-- How long each kind is kept: what is over is found by its age, also among millions.

create index turns_finished on turns (finished_at) where finished_at is not null;
-- What belongs to no turn: ignored messages, notifications, what stays of pruned runs.
create index inbound_apart on inbound (received_at) where turn_id is null;
create index outbound_apart on outbound (created_at) where turn_id is null;
create index history_turn on history (tenant_id, turn_id) where turn_id is not null;
create index history_apart on history (created_at) where turn_id is null;
create index inbox_keys_received on inbox_keys (received_at);
create index approval_audit_at on approval_audit (at);

-- upto: the journals of turns that ended until then are gone, so that their turns are not looked at again.
create table retention_marks (
    kind text primary key,
    upto timestamptz not null
);
select shared_table('retention_marks', 'select');
