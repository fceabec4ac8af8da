-- Memory: sessions, messages, memories and their index.
select 1;
