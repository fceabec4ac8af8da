-- was c63760625e3d561c135ba29cafbaac7c1fac703913c9c6afe3610cf5fb6454f9
-- The tables of memory are made by the ability.
select;
