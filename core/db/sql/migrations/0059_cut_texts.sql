-- A text that its provider cut in two: what stood at the cut, and whether a message is the rest of the one before it.

alter table inbound add column goes_on text check (goes_on in ('', E'\n'));
alter table inbound add column continues boolean not null default false;
alter type arrival add attribute goes_on text;
