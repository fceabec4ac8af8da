-- How many messages of all people wait for their turn: the sum of these rows. Each transaction counts in a row that no
-- other is counting in, so that none waits for another; functions/inbox.sql has the triggers. One row alone may be
-- negative, since a message is taken by another connection than the one that received it.
create table waiting_counts (
    shard   int primary key,
    waiting bigint not null
) with (fillfactor = 30);
select shared_table('waiting_counts', 'select, insert, update');
insert into waiting_counts (shard, waiting) select 0, count(*) from inbound i where i.state = 'waiting';
