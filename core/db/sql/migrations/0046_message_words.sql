-- The words of a message, in a table of their own: a message's row changes several times, and would be copied with them.
-- Among the words is the person, so that one index finds the words of one person's messages.
create table message_words (
    tenant_id       text not null references tenants on delete cascade,
    message_id      text not null,
    conversation_id text not null,
    inward          boolean not null,
    at              timestamptz not null,
    words           tsvector not null,
    primary key (tenant_id, message_id),
    foreign key (tenant_id, conversation_id) references conversations on delete cascade
);
select tenant_table('message_words');

-- What was there before.
insert into message_words (tenant_id, message_id, conversation_id, inward, at, words)
select m.tenant_id, m.id, m.conversation_id, m.inward, m.at,
       array_to_tsvector(array['person ' || m.tenant_id]) || to_tsvector('simple', m.text) || to_tsvector('english', m.text)
from (select x.tenant_id, x.id, x.conversation_id, x.inward, x.at, regexp_replace(
          left(x.text, 20000),
          '([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff])', ' \1 ', 'g') as text
      from (select i.tenant_id, i.id, i.conversation_id, true as inward, i.received_at as at,
                   concat_ws(' ', i.text, i.heard) as text
            from inbound i where i.state = 'done'
            union all
            select o.tenant_id, o.id, o.conversation_id, false, o.created_at, o.text
            from outbound o where o.state = 'sent' and o.kind <> 'receipt') x
      where btrim(x.text) <> '') m;

create index message_words_words on message_words using gin (words);
create index message_words_person on message_words (tenant_id, at desc, message_id desc);
create index message_words_at on message_words (at desc, message_id desc);
create index message_words_conversation on message_words (tenant_id, conversation_id);
