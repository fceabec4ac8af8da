-- The language that a provider told of an address when it was asked; '' for none. A person who takes their own choice
-- back is spoken to in it at once: the provider is asked once an hour at most.

alter table identities add column told_language text not null default '';
