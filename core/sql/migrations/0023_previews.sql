-- Previews: what is shown of an answer before it is sent.
select 1;
