-- How much of their calendars a member shows to the others: nothing until they say so, in each household anew.
alter table household_members
    add column calendar text not null default '' check (calendar in ('', 'busy', 'titles'));
