-- People: linking and unlinking identities, preferences.
select 1;
