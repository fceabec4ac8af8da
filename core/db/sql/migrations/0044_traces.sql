-- was 2fc26f744e30a61e50a54dda446b0afd588fbb54d0d8c677516f6fdbf2fc89da
-- Traces: the context of the span in which a row began (W3C Trace Context), null where nothing was recorded. A function
-- that is given a context sets onevalet.trace, and what begins in its transaction takes it from there.
alter table inbound add column traceparent text default nullif(current_setting('onevalet.trace', true), '');
alter table turns add column traceparent text default nullif(current_setting('onevalet.trace', true), '');
alter table outbound add column traceparent text default nullif(current_setting('onevalet.trace', true), '');
alter table notifications add column traceparent text default nullif(current_setting('onevalet.trace', true), '');
alter type arrival add attribute traceparent text;
