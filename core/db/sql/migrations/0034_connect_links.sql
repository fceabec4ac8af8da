-- was a1f582468e03ea8d1110ef4259355b7200884f9b09e9b4ad6f72cfb08fd860f2
-- The table of links is made by the ability of accounts.
select;
