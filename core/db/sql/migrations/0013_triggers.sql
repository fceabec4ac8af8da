-- was e4e313133885f469fd31865311596b1f2368de53d77ce3da9edfee75a594cad2
-- The tables of tasks are made by the ability.
select;
