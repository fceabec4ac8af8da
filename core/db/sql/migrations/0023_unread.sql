-- was 023161ba2a5183f9caddf0da1c95b52ccb2aa495074be8d9a95fd3a92f1fdb1e
-- The index is made by the ability of memory.
select;
