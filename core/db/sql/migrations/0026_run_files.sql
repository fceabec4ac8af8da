-- was eae9407b71fb113ec8caf504c316e7df0d5aa84d7fff742ced7d327b4c18f4ab
-- The column is made by the ability of tasks.
select;
