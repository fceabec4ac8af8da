        select jsonb_build_object('key', h.key, 'how', h.how, 'code', h.code, 'lasts', h.lifted_at is null,
                                  'lifted_how', h.lifted_how)
        from halts h where h.lifted_at is null or h.lifted_at > clock_timestamp() - interval '30 days'
