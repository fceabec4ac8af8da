"""The leases that struck processes leave behind: kept from the next one, then ended one after the other.

The next process is to die of something of its own. Hundreds that end in one moment would say how fast one worker is,
not whether anything is lost: in operation, processes die one at a time.
"""

HOLD = """
update lanes set not_before = clock_timestamp() + '1 hour', lease_until = clock_timestamp() + '1 hour' where pending;
update outbound set next_attempt_at = clock_timestamp() + '1 hour', lease_until = clock_timestamp() + '1 hour'
where state in ('ready', 'sending', 'checking');
"""
RELEASE = """
update lanes l set not_before = null, lease_until = clock_timestamp() + o.place * interval '0.2 s'
from (select tenant_id, id, row_number() over (order by tenant_id, id) as place from lanes where pending) o
where l.tenant_id = o.tenant_id and l.id = o.id;
update outbound m set next_attempt_at = clock_timestamp(), lease_until = clock_timestamp() + o.place * interval '0.2 s'
from (select tenant_id, id, row_number() over (order by tenant_id, id) as place from outbound
      where state in ('ready', 'sending', 'checking')) o
where m.tenant_id = o.tenant_id and m.id = o.id;
"""
