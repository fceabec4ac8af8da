-- Nothing switched a person's channel events on, so nothing watches that switch.
drop trigger if exists tenants_mail on tenants;
