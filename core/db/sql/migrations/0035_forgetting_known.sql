-- was edbc15adb17111f7b5953f98e49e5848147ceda33a01c72fe5c334b4d29b9b5a
-- The column is made by the ability of memory.
select;
