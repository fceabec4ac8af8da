-- What waits to be made unreadable is looked for every few seconds: without reading all cards that ever were.
create index approval_cards_numbers on approval_cards (tenant_id) where role = 'number';
