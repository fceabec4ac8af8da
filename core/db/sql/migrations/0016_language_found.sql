-- Where a person's language comes from: the channel that told it, or 'profile'; '' is the person's own choice, which
-- nothing that is found replaces.

alter table tenants add column language_from text not null default '';
alter type arrival add attribute language text;
