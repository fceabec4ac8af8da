-- A person's open follow-ups, and the next digest: what is due is found without a look at those that are over.
create index followups_open_of on followups (tenant_id) where state in ('proposed', 'kept');
create index followups_digests on followups (digest_at) where state = 'proposed';
