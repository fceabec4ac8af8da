-- Places at which people were, for a day. id: the message that brought it, or the link. inbound_id: that message, if it
-- is one. how: `sent`, `named` (a place with a name), `live`, `link`, `said` (a city). latitude, longitude: in degrees, null once they are
-- forgotten; the row stays as long as its message may still be updated. accuracy: in metres. at: the provider's time.
-- live_until: until when it is shared. noted_at: when we learned it; looked_at: when its timezone was compared.
create table seen_places (
    tenant_id  text not null references tenants on delete cascade,
    id         text not null,
    inbound_id text,
    how        text not null,
    latitude   double precision,
    longitude  double precision,
    accuracy   double precision,
    name       text not null default '',
    address    text not null default '',
    at         timestamptz not null,
    live_until timestamptz,
    noted_at   timestamptz not null default clock_timestamp(),
    looked_at  timestamptz,
    primary key (tenant_id, id)
);
create index seen_places_by_age on seen_places (at);
create index seen_places_new on seen_places (noted_at) where looked_at is null and latitude is not null;
select tenant_table('seen_places');

-- Places to which people gave a name, such as the office; key: the name without case. radius: in metres.
create table saved_places (
    tenant_id text not null references tenants on delete cascade,
    key       text not null,
    name      text not null,
    latitude  double precision not null,
    longitude double precision not null,
    radius    double precision not null,
    made_at   timestamptz not null,
    primary key (tenant_id, key)
);
select tenant_table('saved_places');

-- Links by which a phone is asked where it is. token_hash: the hash of the link's end, which is stored nowhere.
create table place_links (
    tenant_id       text not null references tenants on delete cascade,
    token_hash      bytea not null,
    conversation_id text,
    made_at         timestamptz not null,
    expires_at      timestamptz not null,
    used_at         timestamptz,
    primary key (tenant_id, token_hash)
);
create index place_links_by_token on place_links (token_hash);
select tenant_table('place_links');
