-- was f080186747431eb5266b520c8dd5274d823dfd35976e893251de7eb706b9c401
-- The column is made by the ability of tasks.
select;
