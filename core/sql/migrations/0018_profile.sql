-- Profiles: what is known about a person, told or inferred.
select 1;
