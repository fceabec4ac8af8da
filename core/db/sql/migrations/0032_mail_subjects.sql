-- What an email is about, which stands in the answer's subject again.
alter table inbound add column subject text not null default '';
alter type arrival add attribute subject text;
