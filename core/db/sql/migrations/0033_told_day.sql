-- A moment as the person reads it: of another day than today, the day is told too. Where nobody knows their timezone,
-- both are in UTC.
create or replace function told_time(p_tenant text, p_moment timestamptz)
returns text
language plpgsql stable as $$
declare
    v_zone text;
    v_there timestamp;
    v_now timestamp;
begin
    select coalesce(nullif(t.timezone, ''), 'UTC') into v_zone from tenants t where t.tenant_id = p_tenant;
    begin
        v_there := p_moment at time zone coalesce(v_zone, 'UTC');
        v_now := clock_timestamp() at time zone coalesce(v_zone, 'UTC');
    exception when invalid_parameter_value then
        v_there := p_moment at time zone 'UTC';
        v_now := clock_timestamp() at time zone 'UTC';
    end;
    return to_char(v_there, case when v_there::date = v_now::date then 'HH24:MI' else 'HH24:MI "on" FMDD FMMonth' end);
end $$;
