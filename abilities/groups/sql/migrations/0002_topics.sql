-- Topics of a forum on Telegram, and threads on Slack: what is said there is answered there. Empty: outside of any.
-- group_chats.thread: where somebody asked for us; group_requests.thread: where a member asked.
alter table group_chats add column thread text not null default '';
alter table group_words add column thread text not null default '';
alter table group_requests add column thread text not null default '';
