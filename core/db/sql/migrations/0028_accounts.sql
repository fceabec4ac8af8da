-- What becomes of an account after it was connected.

-- revoked_at: since when the service accepts what is stored no longer; connecting the account again clears it.
-- refreshed_by, refreshing_until: which process has its tokens refreshed, and how long the others leave it to that one.
alter table credentials
    add column revoked_at timestamptz,
    add column refreshed_by text not null default '',
    add column refreshing_until timestamptz;
