-- A new place that could not be looked at comes again by itself, later each time.
alter table seen_places
    add column attempts int not null default 0,
    add column next_attempt_at timestamptz not null default clock_timestamp();
drop index seen_places_new;
create index seen_places_new on seen_places (next_attempt_at) where looked_at is null and latitude is not null;
