        select m.household_id from household_members m
