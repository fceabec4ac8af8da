-- When the quiet hours end in which a run of the task was spared: one run then makes up for all of them. From the Clock.
alter table tasks add column make_up_at timestamptz;
create index tasks_make_up on tasks (make_up_at) where make_up_at is not null;
