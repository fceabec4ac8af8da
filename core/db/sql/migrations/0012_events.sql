-- was 8c70c802e7e7e7a626182a601a5fc22980ee5e7a44a0294cfcbbdd629b5bf2f1
-- The tables of events are made by the ability.
select;
