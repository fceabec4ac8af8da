-- What was said in the voice notes of a message, beside what was typed.
alter table inbound add column heard text not null default '';
