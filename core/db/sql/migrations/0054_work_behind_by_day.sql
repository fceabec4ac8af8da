-- Finds the work in the background of some days without looking at all that was used in them.

create index usage_days_background on usage_days (day) where kind = 'background';
