-- The number of this database among those that people are divided over; no row is 0, as everywhere before.
create table own_partition (
    one    boolean primary key default true check (one),
    number int not null check (number between 0 and 99)
);
select shared_table('own_partition', 'select');
