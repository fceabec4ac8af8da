                select 'hours_zone', to_jsonb(hours_zone_of(p_tenant))
