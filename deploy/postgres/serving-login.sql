-- Run by the Postgres image while it fills an empty volume: the login of `web` and `worker`, which owns nothing and may
-- only act as the role that serves. `migrate` goes on as the owner. For a volume that exists already: docs/deploy.md.
\getenv password POSTGRES_SERVING_PASSWORD
create role onevalet_app nologin;
create role onevalet_serving login noinherit password :'password';
grant onevalet_app to onevalet_serving with inherit false, set true;
