CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;

CREATE TYPE public.arrival AS (
	channel text,
	account text,
	peer text,
	thread text,
	user_key text,
	keys text[],
	id text,
	text text,
	media jsonb,
	command jsonb,
	provider_id text,
	sent_at timestamp with time zone,
	reply_to text,
	origin text,
	name text,
	timezone text,
	admit text,
	role text,
	listed_only boolean,
	new_tenant text,
	new_identity text,
	new_conversation text,
	outbound text,
	language text,
	subject text,
	traceparent text,
	points jsonb,
	goes_on text
);

CREATE TYPE public.fired_run AS (
	tenant_id text,
	task_id text,
	run_id text,
	turn_id text,
	occurrence text,
	due_at timestamp with time zone,
	state text,
	reason text,
	cause text
);

CREATE TYPE public.fired_task AS (
	tenant_id text,
	task_id text,
	due_at timestamp with time zone,
	next_at timestamp with time zone,
	zone text,
	fires integer
);

CREATE TABLE public.links (
    tenant_id text NOT NULL,
    id text NOT NULL,
    other_id text NOT NULL,
    other jsonb NOT NULL,
    before jsonb NOT NULL,
    made_at timestamp with time zone NOT NULL,
    linked_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY public.links FORCE ROW LEVEL SECURITY;

CREATE TABLE public.steps (
    tenant_id text NOT NULL,
    turn_id text NOT NULL,
    agent_path text DEFAULT ''::text NOT NULL,
    step integer NOT NULL,
    call_index integer NOT NULL,
    kind text NOT NULL,
    name text DEFAULT ''::text NOT NULL,
    args_hash text DEFAULT ''::text NOT NULL,
    effect text DEFAULT ''::text NOT NULL,
    state text NOT NULL,
    outcome text DEFAULT 'ok'::text NOT NULL,
    idempotency_key text DEFAULT ''::text NOT NULL,
    result jsonb DEFAULT '{}'::jsonb NOT NULL,
    usage jsonb DEFAULT '{}'::jsonb NOT NULL,
    duration_ms integer DEFAULT 0 NOT NULL,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT steps_state_check CHECK ((state = ANY (ARRAY['started'::text, 'done'::text])))
);

ALTER TABLE ONLY public.steps FORCE ROW LEVEL SECURITY;

CREATE TABLE public.inbound (
    tenant_id text NOT NULL,
    id text NOT NULL,
    conversation_id text NOT NULL,
    seq bigint NOT NULL,
    text text NOT NULL,
    media jsonb DEFAULT '[]'::jsonb NOT NULL,
    command jsonb,
    provider_id text DEFAULT ''::text NOT NULL,
    sent_at timestamp with time zone,
    received_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    state text DEFAULT 'waiting'::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    outcome text,
    turn_id text,
    reply_to text DEFAULT ''::text NOT NULL,
    origin text DEFAULT 'own'::text NOT NULL,
    heard text DEFAULT ''::text NOT NULL,
    subject text DEFAULT ''::text NOT NULL,
    traceparent text DEFAULT NULLIF(current_setting('onevalet.trace'::text, true), ''::text),
    points jsonb DEFAULT '[]'::jsonb NOT NULL,
    goes_on text,
    continues boolean DEFAULT false NOT NULL,
    CONSTRAINT inbound_goes_on_check CHECK ((goes_on = ANY (ARRAY[''::text, '
'::text]))),
    CONSTRAINT inbound_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'taken'::text, 'done'::text, 'ignored'::text])))
);

ALTER TABLE ONLY public.inbound FORCE ROW LEVEL SECURITY;

CREATE TABLE public.accepted_definitions (
    kind text NOT NULL,
    source text NOT NULL,
    name text NOT NULL,
    hash text NOT NULL,
    definition jsonb NOT NULL,
    accepted_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT accepted_definitions_kind_check CHECK ((kind = ANY (ARRAY['mcp'::text, 'skill'::text])))
);

ALTER TABLE ONLY public.accepted_definitions FORCE ROW LEVEL SECURITY;

CREATE TABLE public.account_prompts (
    tenant_id text NOT NULL,
    topic text NOT NULL,
    turn_id text NOT NULL,
    told_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY public.account_prompts FORCE ROW LEVEL SECURITY;

CREATE TABLE public.approval_audit (
    tenant_id text NOT NULL,
    id bigint NOT NULL,
    approval_id text NOT NULL,
    at timestamp with time zone NOT NULL,
    what text NOT NULL,
    hash text DEFAULT ''::text NOT NULL,
    identity_id text DEFAULT ''::text NOT NULL,
    channel text DEFAULT ''::text NOT NULL,
    how text DEFAULT ''::text NOT NULL,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT approval_audit_what_check CHECK ((what = ANY (ARRAY['requested'::text, 'sent'::text, 'approved'::text, 'cancelled'::text, 'replaced'::text, 'expired'::text, 'ran'::text, 'refused'::text, 'confirm'::text, 'reminded'::text, 'snoozed'::text, 'reissued'::text, 'granted'::text, 'used'::text, 'ended'::text])))
);

ALTER TABLE ONLY public.approval_audit FORCE ROW LEVEL SECURITY;

ALTER TABLE public.approval_audit ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.approval_audit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.approval_cards (
    tenant_id text NOT NULL,
    outbound_id text NOT NULL,
    approval_id text NOT NULL,
    role text DEFAULT 'card'::text NOT NULL,
    CONSTRAINT approval_cards_role_check CHECK ((role = ANY (ARRAY['card'::text, 'prompt'::text, 'number'::text])))
);

ALTER TABLE ONLY public.approval_cards FORCE ROW LEVEL SECURITY;

CREATE TABLE public.approval_codes (
    tenant_id text NOT NULL,
    code text NOT NULL,
    holder text NOT NULL,
    issued_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY public.approval_codes FORCE ROW LEVEL SECURITY;

CREATE TABLE public.approvals (
    tenant_id text NOT NULL,
    id text NOT NULL,
    turn_id text NOT NULL,
    place text NOT NULL,
    generation integer NOT NULL,
    conversation_id text NOT NULL,
    name text NOT NULL,
    summary text NOT NULL,
    arguments jsonb NOT NULL,
    shown jsonb NOT NULL,
    form jsonb DEFAULT '[]'::jsonb NOT NULL,
    editable boolean DEFAULT true NOT NULL,
    risk text DEFAULT ''::text NOT NULL,
    source text DEFAULT 'message'::text NOT NULL,
    code text NOT NULL,
    token text NOT NULL,
    timeout interval NOT NULL,
    sealed_head text NOT NULL,
    sealed_tail text NOT NULL,
    hash text DEFAULT ''::text NOT NULL,
    expires_at timestamp with time zone,
    state text DEFAULT 'pending'::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    proposed jsonb,
    decided_at timestamp with time zone,
    decided_by text DEFAULT ''::text NOT NULL,
    decided_channel text DEFAULT ''::text NOT NULL,
    decided_how text DEFAULT ''::text NOT NULL,
    decided_in text DEFAULT ''::text NOT NULL,
    confirm_hash bytea,
    confirm_until timestamp with time zone,
    confirm_tries integer DEFAULT 0 NOT NULL,
    confirm_sent integer DEFAULT 0 NOT NULL,
    remind_at timestamp with time zone,
    ran_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT approvals_check CHECK (((expires_at IS NULL) = (hash = ''::text))),
    CONSTRAINT approvals_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'approved'::text, 'cancelled'::text, 'expired'::text, 'replaced'::text])))
);

ALTER TABLE ONLY public.approvals FORCE ROW LEVEL SECURITY;

CREATE TABLE public.backups (
    id text NOT NULL,
    worker text DEFAULT ''::text NOT NULL,
    began_at timestamp with time zone NOT NULL,
    lease_until timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    file text DEFAULT ''::text NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL,
    failure text DEFAULT ''::text NOT NULL
);

ALTER TABLE ONLY public.backups FORCE ROW LEVEL SECURITY;

CREATE TABLE public.channel_state (
    channel text NOT NULL,
    account text NOT NULL,
    last_in_at timestamp with time zone,
    last_out_at timestamp with time zone,
    watermark timestamp with time zone,
    poll_offset bigint,
    owner text,
    lease_until timestamp with time zone,
    poll_problem text DEFAULT ''::text NOT NULL,
    sweep_owner text,
    sweep_until timestamp with time zone,
    sweep_began timestamp with time zone,
    sweep_place text DEFAULT ''::text NOT NULL
);

ALTER TABLE ONLY public.channel_state FORCE ROW LEVEL SECURITY;

CREATE TABLE public.client_tokens (
    tenant_id text NOT NULL,
    id text NOT NULL,
    number bigint NOT NULL,
    name text NOT NULL,
    token_hash bytea NOT NULL,
    made_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    last_used_at timestamp with time zone,
    uses bigint DEFAULT 0 NOT NULL
);

ALTER TABLE ONLY public.client_tokens FORCE ROW LEVEL SECURITY;

CREATE TABLE public.connect_links (
    tenant_id text NOT NULL,
    token_hash bytea NOT NULL,
    conversation_id text,
    service text NOT NULL,
    account_name text NOT NULL,
    abilities text[] NOT NULL,
    made_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    browser_hash bytea,
    state_hash bytea,
    key_version integer,
    sealed bytea,
    tries integer DEFAULT 0 NOT NULL,
    done_at timestamp with time zone
);

ALTER TABLE ONLY public.connect_links FORCE ROW LEVEL SECURITY;

CREATE TABLE public.consent_uses (
    tenant_id text NOT NULL,
    id text NOT NULL,
    consent_id text NOT NULL,
    turn_id text NOT NULL,
    call_id text NOT NULL,
    arguments_hash text NOT NULL,
    number integer NOT NULL,
    outcome text DEFAULT ''::text NOT NULL,
    at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY public.consent_uses FORCE ROW LEVEL SECURITY;

CREATE TABLE public.consents (
    id bigint NOT NULL,
    channel text NOT NULL,
    account text NOT NULL,
    user_key text NOT NULL,
    state text NOT NULL,
    how text NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT consents_state_check CHECK ((state = ANY (ARRAY['active'::text, 'stopped'::text, 'blocked'::text])))
);

ALTER TABLE ONLY public.consents FORCE ROW LEVEL SECURITY;

ALTER TABLE public.consents ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.consents_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.console_actions (
    tenant_id text NOT NULL,
    id text NOT NULL,
    viewer text NOT NULL,
    what text NOT NULL,
    subject text NOT NULL,
    at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY public.console_actions FORCE ROW LEVEL SECURITY;

CREATE TABLE public.console_links (
    tenant_id text NOT NULL,
    token_hash bytea NOT NULL,
    operator boolean NOT NULL,
    made_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY public.console_links FORCE ROW LEVEL SECURITY;

CREATE TABLE public.console_looks (
    tenant_id text NOT NULL,
    id text NOT NULL,
    viewer text NOT NULL,
    what text NOT NULL,
    subject text NOT NULL,
    at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY public.console_looks FORCE ROW LEVEL SECURITY;

CREATE TABLE public.console_sessions (
    tenant_id text NOT NULL,
    token_hash bytea NOT NULL,
    operator boolean NOT NULL,
    begun_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY public.console_sessions FORCE ROW LEVEL SECURITY;

CREATE TABLE public.conversations (
    tenant_id text NOT NULL,
    id text NOT NULL,
    identity_id text,
    channel text NOT NULL,
    account text NOT NULL,
    peer text NOT NULL,
    thread text DEFAULT ''::text NOT NULL,
    session integer DEFAULT 1 NOT NULL,
    in_seq bigint DEFAULT 0 NOT NULL,
    out_seq bigint DEFAULT 0 NOT NULL,
    history_seq bigint DEFAULT 0 NOT NULL,
    last_inbound_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    recipient_id text,
    CONSTRAINT conversations_with_check CHECK ((num_nonnulls(identity_id, recipient_id) = 1))
);

ALTER TABLE ONLY public.conversations FORCE ROW LEVEL SECURITY;

CREATE TABLE public.credentials (
    tenant_id text NOT NULL,
    service text NOT NULL,
    account_name text NOT NULL,
    key_version integer NOT NULL,
    credentials_json bytea NOT NULL,
    preferred boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    revoked_at timestamp with time zone,
    refreshed_by text DEFAULT ''::text NOT NULL,
    refreshing_until timestamp with time zone,
    preferred_for text[] DEFAULT '{}'::text[] NOT NULL,
    attend_at timestamp with time zone,
    CONSTRAINT credentials_account_name_check CHECK (((length(account_name) >= 1) AND (length(account_name) <= 200))),
    CONSTRAINT credentials_service_check CHECK (((length(service) >= 1) AND (length(service) <= 200)))
);

ALTER TABLE ONLY public.credentials FORCE ROW LEVEL SECURITY;

CREATE TABLE public.data_keys (
    tenant_id text NOT NULL,
    version integer NOT NULL,
    secret_key_id text NOT NULL,
    wrapped bytea NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT data_keys_version_check CHECK ((version > 0))
);

ALTER TABLE ONLY public.data_keys FORCE ROW LEVEL SECURITY;

CREATE TABLE public.deletion_secret (
    one boolean DEFAULT true NOT NULL,
    secret bytea NOT NULL,
    CONSTRAINT deletion_secret_one_check CHECK (one)
);

ALTER TABLE ONLY public.deletion_secret FORCE ROW LEVEL SECURITY;

CREATE TABLE public.deletions (
    person text NOT NULL,
    asked_by text NOT NULL,
    asked_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone NOT NULL,
    claimed_until timestamp with time zone,
    finished_at timestamp with time zone,
    CONSTRAINT deletions_asked_by_check CHECK ((asked_by = ANY (ARRAY['person'::text, 'operator'::text])))
);

ALTER TABLE ONLY public.deletions FORCE ROW LEVEL SECURITY;

CREATE TABLE public.deliveries (
    tenant_id text NOT NULL,
    outbound_id text NOT NULL,
    part integer NOT NULL,
    attempt integer NOT NULL,
    owner text NOT NULL,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    finished_at timestamp with time zone,
    outcome text DEFAULT 'started'::text NOT NULL,
    error_code text DEFAULT ''::text NOT NULL,
    provider_id text DEFAULT ''::text NOT NULL
);

ALTER TABLE ONLY public.deliveries FORCE ROW LEVEL SECURITY;

CREATE TABLE public.directory (
    channel text NOT NULL,
    account text NOT NULL,
    user_key text NOT NULL,
    person text NOT NULL,
    identity_id text NOT NULL
);

ALTER TABLE ONLY public.directory FORCE ROW LEVEL SECURITY;

CREATE TABLE public.event_groups (
    name text NOT NULL,
    pattern text NOT NULL
);

ALTER TABLE ONLY public.event_groups FORCE ROW LEVEL SECURITY;

CREATE TABLE public.event_sources (
    tenant_id text NOT NULL,
    id text NOT NULL,
    name text NOT NULL,
    former_names text[] DEFAULT '{}'::text[] NOT NULL,
    style text NOT NULL,
    secret_hash bytea,
    key_version integer,
    sealed bytea,
    options jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT event_sources_check CHECK ((((style = 'bearer'::text) = (secret_hash IS NOT NULL)) AND ((style = 'bearer'::text) = (sealed IS NULL)))),
    CONSTRAINT event_sources_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9_-]{0,63}$'::text)),
    CONSTRAINT event_sources_style_check CHECK ((style = ANY (ARRAY['bearer'::text, 'hmac'::text, 'github'::text, 'stripe'::text])))
);

ALTER TABLE ONLY public.event_sources FORCE ROW LEVEL SECURITY;

CREATE TABLE public.event_work (
    tenant_id text NOT NULL,
    source text NOT NULL,
    event_id text NOT NULL,
    group_name text NOT NULL,
    state text DEFAULT 'waiting'::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    next_attempt_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    streamed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    owner text,
    lease_until timestamp with time zone,
    ended_at timestamp with time zone,
    CONSTRAINT event_work_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'done'::text, 'poison'::text])))
);

ALTER TABLE ONLY public.event_work FORCE ROW LEVEL SECURITY;

CREATE TABLE public.events (
    tenant_id text NOT NULL,
    source text NOT NULL,
    id text NOT NULL,
    type text NOT NULL,
    data jsonb NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    received_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    traceparent text DEFAULT NULLIF(current_setting('onevalet.trace'::text, true), ''::text)
);

ALTER TABLE ONLY public.events FORCE ROW LEVEL SECURITY;

CREATE TABLE public.export_links (
    tenant_id text NOT NULL,
    token_hash bytea NOT NULL,
    made_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone
);

ALTER TABLE ONLY public.export_links FORCE ROW LEVEL SECURITY;

CREATE TABLE public.file_deletions (
    key text NOT NULL,
    deleted_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY public.file_deletions FORCE ROW LEVEL SECURITY;

CREATE TABLE public.files (
    tenant_id text NOT NULL,
    id text NOT NULL,
    sha256 text NOT NULL,
    key text NOT NULL,
    kind text NOT NULL,
    content_type text NOT NULL,
    name text DEFAULT ''::text NOT NULL,
    state text DEFAULT 'storing'::text NOT NULL,
    size bigint NOT NULL,
    pages jsonb DEFAULT '[]'::jsonb NOT NULL,
    page_count integer DEFAULT 0 NOT NULL,
    cut boolean DEFAULT false NOT NULL,
    caption text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone NOT NULL,
    CONSTRAINT files_state_check CHECK ((state = ANY (ARRAY['storing'::text, 'kept'::text])))
);

ALTER TABLE ONLY public.files FORCE ROW LEVEL SECURITY;

CREATE TABLE public.guesses (
    scope text NOT NULL,
    at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY public.guesses FORCE ROW LEVEL SECURITY;

CREATE TABLE public.history (
    tenant_id text NOT NULL,
    conversation_id text NOT NULL,
    "position" bigint NOT NULL,
    session integer NOT NULL,
    turn_id text,
    message jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY public.history FORCE ROW LEVEL SECURITY;

CREATE TABLE public.identities (
    tenant_id text NOT NULL,
    id text NOT NULL,
    channel text NOT NULL,
    account text NOT NULL,
    user_key text NOT NULL,
    name text DEFAULT ''::text NOT NULL,
    timezone text DEFAULT ''::text NOT NULL,
    state text DEFAULT 'active'::text NOT NULL,
    state_reason text DEFAULT ''::text NOT NULL,
    state_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    admitted text NOT NULL,
    told_language text DEFAULT ''::text NOT NULL,
    CONSTRAINT identities_admitted_check CHECK ((admitted = ANY (ARRAY[''::text, 'open'::text, 'allowlist'::text, 'pairing'::text, 'link'::text, 'operator'::text]))),
    CONSTRAINT identities_state_check CHECK ((state = ANY (ARRAY['active'::text, 'stopped'::text, 'blocked'::text]))),
    CONSTRAINT identities_user_key_check CHECK ((user_key <> ''::text))
);

ALTER TABLE ONLY public.identities FORCE ROW LEVEL SECURITY;

CREATE TABLE public.ignored_messages (
    channel text NOT NULL,
    account text NOT NULL,
    key text NOT NULL,
    reason text NOT NULL,
    received_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY public.ignored_messages FORCE ROW LEVEL SECURITY;

CREATE TABLE public.inbound_files (
    tenant_id text NOT NULL,
    inbound_id text NOT NULL,
    number integer NOT NULL,
    file_id text,
    failure text
);

ALTER TABLE ONLY public.inbound_files FORCE ROW LEVEL SECURITY;

CREATE TABLE public.inbox_keys (
    channel text NOT NULL,
    account text NOT NULL,
    key text NOT NULL,
    tenant_id text NOT NULL,
    inbound_id text NOT NULL,
    received_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY public.inbox_keys FORCE ROW LEVEL SECURITY;

CREATE TABLE public.lanes (
    tenant_id text NOT NULL,
    id text NOT NULL,
    conversation_id text,
    pending boolean DEFAULT false NOT NULL,
    pending_since timestamp with time zone,
    not_before timestamp with time zone,
    process text,
    owner text,
    lease_until timestamp with time zone,
    fence bigint DEFAULT 0 NOT NULL
);

ALTER TABLE ONLY public.lanes FORCE ROW LEVEL SECURITY;

CREATE TABLE public.link_codes (
    tenant_id text NOT NULL,
    code_hash bytea NOT NULL,
    identity_id text NOT NULL,
    turn_id text NOT NULL,
    made_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    used_by text DEFAULT ''::text NOT NULL,
    scrubbed boolean DEFAULT false NOT NULL,
    asked_channel text DEFAULT ''::text NOT NULL,
    asked_account text DEFAULT ''::text NOT NULL,
    asked_user_key text DEFAULT ''::text NOT NULL,
    asked_by text DEFAULT ''::text NOT NULL
);

ALTER TABLE ONLY public.link_codes FORCE ROW LEVEL SECURITY;

CREATE TABLE public.linked_rows (
    tenant_id text NOT NULL,
    link_id text NOT NULL,
    of text NOT NULL,
    key text[] NOT NULL,
    number bigint,
    name text DEFAULT ''::text NOT NULL,
    copied boolean DEFAULT false NOT NULL
);

ALTER TABLE ONLY public.linked_rows FORCE ROW LEVEL SECURITY;

CREATE TABLE public.mail_watches (
    tenant_id text NOT NULL,
    service text NOT NULL,
    account_name text NOT NULL,
    id text DEFAULT (gen_random_uuid())::text NOT NULL,
    since timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    mailbox text DEFAULT ''::text NOT NULL,
    uid_validity bigint,
    last_uid bigint,
    read_at timestamp with time zone,
    mail_at timestamp with time zone,
    revision integer DEFAULT 0 NOT NULL,
    changed_at timestamp with time zone,
    owner text,
    lease_until timestamp with time zone,
    next_attempt_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    problem text DEFAULT ''::text NOT NULL,
    ended boolean DEFAULT false NOT NULL
);

ALTER TABLE ONLY public.mail_watches FORCE ROW LEVEL SECURITY;

CREATE TABLE public.memories (
    tenant_id text NOT NULL,
    id text NOT NULL,
    number bigint NOT NULL,
    collection text DEFAULT ''::text NOT NULL,
    text text NOT NULL,
    speaker text NOT NULL,
    kind text NOT NULL,
    source_key text NOT NULL,
    turn_id text,
    said_at timestamp with time zone NOT NULL,
    slot text DEFAULT ''::text NOT NULL,
    knowledge jsonb DEFAULT '{}'::jsonb NOT NULL,
    extractor text DEFAULT ''::text NOT NULL,
    valid_from timestamp with time zone NOT NULL,
    valid_to timestamp with time zone,
    superseded_by text,
    repeated integer DEFAULT 0 NOT NULL,
    held boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    words tsvector GENERATED ALWAYS AS ((to_tsvector('english'::regconfig, text) || to_tsvector('simple'::regconfig, text))) STORED,
    CONSTRAINT memories_kind_check CHECK ((kind = ANY (ARRAY['told'::text, 'inferred'::text, 'outside'::text]))),
    CONSTRAINT memories_text_check CHECK (((length(text) >= 1) AND (length(text) <= 4000)))
);

ALTER TABLE ONLY public.memories FORCE ROW LEVEL SECURITY;

CREATE TABLE public.memory_forgettings (
    tenant_id text NOT NULL,
    id text NOT NULL,
    turn_id text DEFAULT ''::text NOT NULL,
    memory_ids text[] NOT NULL,
    phrases text[] DEFAULT '{}'::text[] NOT NULL,
    confirmed boolean DEFAULT false NOT NULL,
    confirmed_in text DEFAULT ''::text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    known bigint DEFAULT '9223372036854775807'::bigint NOT NULL
);

ALTER TABLE ONLY public.memory_forgettings FORCE ROW LEVEL SECURITY;

CREATE TABLE public.memory_jobs (
    tenant_id text NOT NULL,
    id text NOT NULL,
    turn_id text,
    collection text DEFAULT ''::text NOT NULL,
    messages jsonb DEFAULT '[]'::jsonb NOT NULL,
    infer boolean DEFAULT true NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    owner text,
    lease_until timestamp with time zone,
    not_before timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY public.memory_jobs FORCE ROW LEVEL SECURITY;

CREATE TABLE public.memory_members (
    tenant_id text NOT NULL,
    name text NOT NULL,
    shared_id text NOT NULL,
    role text NOT NULL,
    CONSTRAINT memory_members_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT memory_members_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'member'::text])))
);

ALTER TABLE ONLY public.memory_members FORCE ROW LEVEL SECURITY;

CREATE TABLE public.memory_messages (
    tenant_id text NOT NULL,
    session text NOT NULL,
    "position" bigint NOT NULL,
    message jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY public.memory_messages FORCE ROW LEVEL SECURITY;

CREATE TABLE public.memory_recalls (
    tenant_id text NOT NULL,
    turn_id text NOT NULL,
    report jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY public.memory_recalls FORCE ROW LEVEL SECURITY;

CREATE TABLE public.memory_sessions (
    tenant_id text NOT NULL,
    id text NOT NULL,
    last_position bigint DEFAULT 0 NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT memory_sessions_id_check CHECK (((length(id) >= 1) AND (length(id) <= 200)))
);

ALTER TABLE ONLY public.memory_sessions FORCE ROW LEVEL SECURITY;

CREATE TABLE public.memory_terms (
    tenant_id text NOT NULL,
    embedder text NOT NULL,
    term text NOT NULL,
    embedding public.vector NOT NULL
);
ALTER TABLE ONLY public.memory_terms ALTER COLUMN embedding SET STORAGE MAIN;

ALTER TABLE ONLY public.memory_terms FORCE ROW LEVEL SECURITY;

CREATE TABLE public.memory_vectors (
    tenant_id text NOT NULL,
    memory_id text NOT NULL,
    embedder text NOT NULL,
    embedding public.vector NOT NULL
);
ALTER TABLE ONLY public.memory_vectors ALTER COLUMN embedding SET STORAGE MAIN;

ALTER TABLE ONLY public.memory_vectors FORCE ROW LEVEL SECURITY;

CREATE TABLE public.memory_versions (
    tenant_id text NOT NULL,
    version bigint DEFAULT 0 NOT NULL,
    epoch bigint DEFAULT 0 NOT NULL
);

ALTER TABLE ONLY public.memory_versions FORCE ROW LEVEL SECURITY;

CREATE TABLE public.message_words (
    tenant_id text NOT NULL,
    message_id text NOT NULL,
    conversation_id text NOT NULL,
    inward boolean NOT NULL,
    at timestamp with time zone NOT NULL,
    words tsvector NOT NULL
);

ALTER TABLE ONLY public.message_words FORCE ROW LEVEL SECURITY;

CREATE TABLE public.notifications (
    tenant_id text NOT NULL,
    id text NOT NULL,
    category text NOT NULL,
    urgency text NOT NULL,
    title text DEFAULT ''::text NOT NULL,
    notice text,
    notice_channel text,
    text text NOT NULL,
    actions jsonb DEFAULT '[]'::jsonb NOT NULL,
    media jsonb DEFAULT '[]'::jsonb NOT NULL,
    dedupe_key text NOT NULL,
    task_id text DEFAULT ''::text NOT NULL,
    run_id text DEFAULT ''::text NOT NULL,
    wanted text DEFAULT ''::text NOT NULL,
    state text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    at timestamp with time zone NOT NULL,
    not_before timestamp with time zone,
    digest_id text,
    repeats integer DEFAULT 0 NOT NULL,
    conversation_id text,
    outbound_id text,
    tried text[] DEFAULT '{}'::text[] NOT NULL,
    queued_at timestamp with time zone,
    fall_back_at timestamp with time zone,
    aside boolean DEFAULT false NOT NULL,
    sent_at timestamp with time zone,
    outside boolean DEFAULT false NOT NULL,
    traceparent text DEFAULT NULLIF(current_setting('onevalet.trace'::text, true), ''::text),
    CONSTRAINT notifications_check CHECK (((state = 'held'::text) <= (not_before IS NOT NULL))),
    CONSTRAINT notifications_check1 CHECK (((notice IS NULL) = (notice_channel IS NULL))),
    CONSTRAINT notifications_notice_check CHECK ((notice = ANY (ARRAY['stopped'::text, 'blocked'::text, 'approval'::text, 'answered'::text, 'recipient_stopped'::text, 'not_delivered'::text]))),
    CONSTRAINT notifications_state_check CHECK ((state = ANY (ARRAY['held'::text, 'queued'::text, 'sent'::text, 'failed'::text, 'nowhere'::text, 'muted'::text, 'digested'::text]))),
    CONSTRAINT notifications_urgency_check CHECK ((urgency = ANY (ARRAY['urgent'::text, 'normal'::text, 'low'::text])))
);

ALTER TABLE ONLY public.notifications FORCE ROW LEVEL SECURITY;

CREATE TABLE public.outbound (
    tenant_id text NOT NULL,
    id text NOT NULL,
    conversation_id text NOT NULL,
    turn_id text,
    kind text NOT NULL,
    text text NOT NULL,
    actions jsonb DEFAULT '[]'::jsonb NOT NULL,
    media jsonb DEFAULT '[]'::jsonb NOT NULL,
    state text NOT NULL,
    seq bigint,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    owner text,
    lease_until timestamp with time zone,
    fence bigint DEFAULT 0 NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    ambiguities integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    sent_at timestamp with time zone,
    regardless boolean DEFAULT false NOT NULL,
    wants_reply boolean DEFAULT false NOT NULL,
    closing text DEFAULT ''::text NOT NULL,
    stream text DEFAULT ''::text NOT NULL,
    stream_at timestamp with time zone,
    hangs integer DEFAULT 0 NOT NULL,
    unknown_since timestamp with time zone,
    given_up_at timestamp with time zone,
    told_missing_by text,
    delay_told_at timestamp with time zone,
    rest jsonb DEFAULT '[]'::jsonb NOT NULL,
    sentences jsonb DEFAULT '[]'::jsonb NOT NULL,
    resolution text DEFAULT ''::text NOT NULL,
    resends text DEFAULT ''::text NOT NULL,
    traceparent text DEFAULT NULLIF(current_setting('onevalet.trace'::text, true), ''::text),
    undelivered boolean DEFAULT false NOT NULL,
    CONSTRAINT outbound_check CHECK (((state = 'held'::text) = (seq IS NULL))),
    CONSTRAINT outbound_kind_check CHECK ((kind = ANY (ARRAY['reply'::text, 'card'::text, 'notification'::text, 'receipt'::text, 'outreach'::text]))),
    CONSTRAINT outbound_resolution_check CHECK ((resolution = ANY (ARRAY[''::text, 'resent'::text, 'dropped'::text, 'elsewhere'::text]))),
    CONSTRAINT outbound_state_check CHECK ((state = ANY (ARRAY['held'::text, 'ready'::text, 'sending'::text, 'checking'::text, 'sent'::text, 'ambiguous'::text, 'failed'::text])))
);

ALTER TABLE ONLY public.outbound FORCE ROW LEVEL SECURITY;

CREATE TABLE public.outbound_parts (
    tenant_id text NOT NULL,
    outbound_id text NOT NULL,
    part integer NOT NULL,
    ref text NOT NULL,
    text text NOT NULL,
    data jsonb DEFAULT '{}'::jsonb NOT NULL,
    segments integer DEFAULT 1 NOT NULL,
    state text DEFAULT 'ready'::text NOT NULL,
    provider_id text DEFAULT ''::text NOT NULL,
    degraded boolean DEFAULT false NOT NULL,
    status text DEFAULT ''::text NOT NULL,
    status_rank integer DEFAULT '-1'::integer NOT NULL,
    status_at timestamp with time zone,
    error_code text DEFAULT ''::text NOT NULL,
    sent_at timestamp with time zone,
    CONSTRAINT outbound_parts_state_check CHECK ((state = ANY (ARRAY['ready'::text, 'sending'::text, 'checking'::text, 'sent'::text, 'ambiguous'::text, 'failed'::text])))
);

ALTER TABLE ONLY public.outbound_parts FORCE ROW LEVEL SECURITY;

CREATE TABLE public.own_partition (
    one boolean DEFAULT true NOT NULL,
    number integer NOT NULL,
    CONSTRAINT own_partition_number_check CHECK (((number >= 0) AND (number <= 99))),
    CONSTRAINT own_partition_one_check CHECK (one)
);

ALTER TABLE ONLY public.own_partition FORCE ROW LEVEL SECURITY;

CREATE TABLE public.pairings (
    code_hash bytea NOT NULL,
    channel text NOT NULL,
    account text NOT NULL,
    user_key text NOT NULL,
    asked_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    used_by text DEFAULT ''::text NOT NULL,
    CONSTRAINT pairings_user_key_check CHECK ((user_key <> ''::text))
);

ALTER TABLE ONLY public.pairings FORCE ROW LEVEL SECURITY;

CREATE TABLE public.person_audit (
    tenant_id text NOT NULL,
    id bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    what text NOT NULL,
    channel text DEFAULT ''::text NOT NULL,
    account text DEFAULT ''::text NOT NULL,
    identity_id text DEFAULT ''::text NOT NULL,
    other text DEFAULT ''::text NOT NULL,
    turn_id text DEFAULT ''::text NOT NULL,
    CONSTRAINT person_audit_what_check CHECK ((what = ANY (ARRAY['code'::text, 'linked'::text, 'merged'::text, 'unlinked'::text, 'preference'::text, 'export_link'::text, 'exported'::text, 'token'::text, 'revoked'::text])))
);

ALTER TABLE ONLY public.person_audit FORCE ROW LEVEL SECURITY;

ALTER TABLE public.person_audit ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.person_audit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.pool_entries (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    agent_type text NOT NULL,
    conversation_id text,
    turn_id text NOT NULL,
    agent_path text NOT NULL,
    tool_call_id text NOT NULL,
    status text NOT NULL,
    schema_version text NOT NULL,
    collected_fields jsonb DEFAULT '{}'::jsonb NOT NULL,
    context jsonb DEFAULT '{}'::jsonb NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    revision integer DEFAULT 0 NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT pool_entries_status_check CHECK ((status = ANY (ARRAY['WAITING_FOR_INPUT'::text, 'WAITING_FOR_APPROVAL'::text, 'WAITING_FOR_ACCOUNT'::text, 'PAUSED'::text, 'CANCELLED'::text, 'COMPLETED'::text])))
);

ALTER TABLE ONLY public.pool_entries FORCE ROW LEVEL SECURITY;

CREATE TABLE public.profile_facts (
    tenant_id text NOT NULL,
    id text NOT NULL,
    number bigint NOT NULL,
    key text NOT NULL,
    value text NOT NULL,
    source text NOT NULL,
    turn_id text DEFAULT ''::text NOT NULL,
    since timestamp with time zone NOT NULL,
    replaced_by text,
    undone_at timestamp with time zone,
    CONSTRAINT profile_facts_key_check CHECK ((key ~ '^[a-z][a-z0-9_]{0,39}$'::text)),
    CONSTRAINT profile_facts_source_check CHECK ((source = ANY (ARRAY['told'::text, 'inferred'::text, 'outside'::text]))),
    CONSTRAINT profile_facts_value_check CHECK (((length(value) >= 1) AND (length(value) <= 300)))
);

ALTER TABLE ONLY public.profile_facts FORCE ROW LEVEL SECURITY;

CREATE TABLE public.profile_jobs (
    tenant_id text NOT NULL,
    turn_id text NOT NULL,
    not_before timestamp with time zone DEFAULT (clock_timestamp() + '00:00:20'::interval) NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    owner text,
    lease_until timestamp with time zone
);

ALTER TABLE ONLY public.profile_jobs FORCE ROW LEVEL SECURITY;

CREATE TABLE public.prompts (
    tenant_id text NOT NULL,
    turn_id text NOT NULL,
    agent_path text DEFAULT ''::text NOT NULL,
    step integer NOT NULL,
    packed bytea NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE ONLY public.prompts ALTER COLUMN packed SET STORAGE EXTERNAL;

ALTER TABLE ONLY public.prompts FORCE ROW LEVEL SECURITY;

CREATE TABLE public.question_cards (
    tenant_id text NOT NULL,
    outbound_id text NOT NULL,
    question_id text NOT NULL
);

ALTER TABLE ONLY public.question_cards FORCE ROW LEVEL SECURITY;

CREATE TABLE public.questions (
    tenant_id text NOT NULL,
    id text NOT NULL,
    turn_id text NOT NULL,
    agent_id text NOT NULL,
    name text NOT NULL,
    choices jsonb NOT NULL,
    skip boolean NOT NULL,
    token text NOT NULL,
    state text DEFAULT 'open'::text NOT NULL,
    answer text DEFAULT ''::text NOT NULL,
    answered_by text DEFAULT ''::text NOT NULL,
    answered_channel text DEFAULT ''::text NOT NULL,
    answered_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT questions_state_check CHECK ((state = ANY (ARRAY['open'::text, 'chosen'::text, 'skipped'::text, 'closed'::text, 'asked_again'::text])))
);

ALTER TABLE ONLY public.questions FORCE ROW LEVEL SECURITY;

CREATE TABLE public.recipients (
    tenant_id text NOT NULL,
    id text NOT NULL,
    channel text NOT NULL,
    account text NOT NULL,
    user_key text NOT NULL,
    name text DEFAULT ''::text NOT NULL,
    written_at timestamp with time zone NOT NULL,
    open boolean DEFAULT true NOT NULL,
    answers integer DEFAULT 0 NOT NULL,
    CONSTRAINT recipients_user_key_check CHECK ((user_key <> ''::text))
);

ALTER TABLE ONLY public.recipients FORCE ROW LEVEL SECURITY;

CREATE TABLE public.redraws (
    tenant_id text NOT NULL,
    outbound_id text NOT NULL,
    outcome text NOT NULL,
    state text DEFAULT 'due'::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    lease_until timestamp with time zone,
    fence bigint DEFAULT 0 NOT NULL,
    drawn_at timestamp with time zone,
    outcome_at timestamp with time zone NOT NULL,
    CONSTRAINT redraws_state_check CHECK ((state = ANY (ARRAY['due'::text, 'drawn'::text, 'given_up'::text])))
);

ALTER TABLE ONLY public.redraws FORCE ROW LEVEL SECURITY;

CREATE TABLE public.reservations (
    tenant_id text NOT NULL,
    turn_id text NOT NULL,
    agent_path text NOT NULL,
    step integer NOT NULL,
    call_index integer NOT NULL,
    day date NOT NULL,
    task_id text DEFAULT ''::text NOT NULL,
    amount numeric(14,8) NOT NULL,
    settled boolean DEFAULT false NOT NULL,
    held_until timestamp with time zone NOT NULL,
    allowed numeric(14,8) DEFAULT 0 NOT NULL,
    CONSTRAINT reservations_allowed_check CHECK ((allowed >= (0)::numeric)),
    CONSTRAINT reservations_amount_check CHECK ((amount >= (0)::numeric))
);

ALTER TABLE ONLY public.reservations FORCE ROW LEVEL SECURITY;

CREATE TABLE public.retention_marks (
    kind text NOT NULL,
    upto timestamp with time zone NOT NULL
);

ALTER TABLE ONLY public.retention_marks FORCE ROW LEVEL SECURITY;

CREATE TABLE public.run_notices (
    tenant_id text NOT NULL,
    run_id text NOT NULL,
    key text NOT NULL,
    kind text DEFAULT 'end'::text NOT NULL,
    text text NOT NULL,
    state text DEFAULT 'open'::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    notification_id text DEFAULT ''::text NOT NULL,
    fate text DEFAULT ''::text NOT NULL,
    place text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    media jsonb DEFAULT '[]'::jsonb NOT NULL,
    outside boolean DEFAULT false NOT NULL,
    traceparent text DEFAULT NULLIF(current_setting('onevalet.trace'::text, true), ''::text),
    CONSTRAINT run_notices_kind_check CHECK ((kind = ANY (ARRAY['end'::text, 'question'::text, 'disabled'::text]))),
    CONSTRAINT run_notices_state_check CHECK ((state = ANY (ARRAY['open'::text, 'handed_over'::text, 'failed'::text])))
);

ALTER TABLE ONLY public.run_notices FORCE ROW LEVEL SECURITY;

CREATE TABLE public.schema_ability_migrations (
    ability text NOT NULL,
    number integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE ONLY public.schema_ability_migrations FORCE ROW LEVEL SECURITY;

CREATE TABLE public.schema_functions (
    name text NOT NULL,
    checksum text NOT NULL,
    functions text[] NOT NULL
);

ALTER TABLE ONLY public.schema_functions FORCE ROW LEVEL SECURITY;

CREATE TABLE public.schema_migrations (
    number integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    serves_from integer
);

ALTER TABLE ONLY public.schema_migrations FORCE ROW LEVEL SECURITY;

CREATE TABLE public.segment_days (
    tenant_id text NOT NULL,
    day date NOT NULL,
    segments integer DEFAULT 0 NOT NULL,
    told boolean DEFAULT false NOT NULL,
    CONSTRAINT segment_days_segments_check CHECK ((segments >= 0))
);

ALTER TABLE ONLY public.segment_days FORCE ROW LEVEL SECURITY;

CREATE TABLE public.segments_of_all (
    day date NOT NULL,
    segments integer DEFAULT 0 NOT NULL,
    refused integer DEFAULT 0 NOT NULL,
    CONSTRAINT segments_of_all_segments_check CHECK ((segments >= 0))
);

ALTER TABLE ONLY public.segments_of_all FORCE ROW LEVEL SECURITY;

CREATE TABLE public.spending (
    tenant_id text NOT NULL,
    day date NOT NULL,
    task_id text DEFAULT ''::text NOT NULL,
    spent numeric(14,8) DEFAULT 0 NOT NULL,
    CONSTRAINT spending_spent_check CHECK ((spent >= (0)::numeric))
);

ALTER TABLE ONLY public.spending FORCE ROW LEVEL SECURITY;

CREATE TABLE public.standing_consents (
    tenant_id text NOT NULL,
    id text NOT NULL,
    number bigint NOT NULL,
    turn_id text NOT NULL,
    approval_id text NOT NULL,
    name text NOT NULL,
    sealed text NOT NULL,
    hash text NOT NULL,
    told text NOT NULL,
    max_uses integer NOT NULL,
    used integer DEFAULT 0 NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    state text DEFAULT 'active'::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    ended_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT standing_consents_check CHECK (((used >= 0) AND (used <= max_uses))),
    CONSTRAINT standing_consents_max_uses_check CHECK ((max_uses > 0)),
    CONSTRAINT standing_consents_state_check CHECK ((state = ANY (ARRAY['active'::text, 'ended'::text]))),
    CONSTRAINT standing_consents_told_check CHECK ((told = ANY (ARRAY['at once'::text, 'digest'::text])))
);

ALTER TABLE ONLY public.standing_consents FORCE ROW LEVEL SECURITY;

CREATE TABLE public.stored_collections (
    tenant_id text NOT NULL,
    name text NOT NULL,
    last_number bigint DEFAULT 0 NOT NULL,
    CONSTRAINT stored_collections_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);

ALTER TABLE ONLY public.stored_collections FORCE ROW LEVEL SECURITY;

CREATE TABLE public.stored_values (
    tenant_id text NOT NULL,
    collection text NOT NULL,
    key text NOT NULL,
    number bigint NOT NULL,
    value jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT stored_values_key_check CHECK (((length(key) >= 1) AND (length(key) <= 200)))
);

ALTER TABLE ONLY public.stored_values FORCE ROW LEVEL SECURITY;

CREATE TABLE public.task_runs (
    tenant_id text NOT NULL,
    id text NOT NULL,
    task_id text NOT NULL,
    occurrence text NOT NULL,
    due_at timestamp with time zone NOT NULL,
    state text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    cause jsonb DEFAULT '{}'::jsonb NOT NULL,
    conversation_id text,
    turn_id text,
    history jsonb DEFAULT '[]'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    CONSTRAINT task_runs_state_check CHECK ((state = ANY (ARRAY['QUEUED'::text, 'RUNNING'::text, 'PENDING_APPROVAL'::text, 'COMPLETED'::text, 'FAILED'::text, 'EXPIRED'::text, 'SKIPPED'::text, 'CANCELLED'::text])))
);

ALTER TABLE ONLY public.task_runs FORCE ROW LEVEL SECURITY;

CREATE TABLE public.tasks (
    tenant_id text NOT NULL,
    id text NOT NULL,
    number integer NOT NULL,
    title text NOT NULL,
    kind text NOT NULL,
    trigger jsonb NOT NULL,
    executor text DEFAULT 'orchestrator'::text NOT NULL,
    action jsonb DEFAULT '{}'::jsonb NOT NULL,
    output jsonb DEFAULT '{}'::jsonb NOT NULL,
    state text DEFAULT 'ACTIVE'::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    anchor timestamp with time zone NOT NULL,
    due_at timestamp with time zone,
    next_at timestamp with time zone,
    zone text DEFAULT ''::text NOT NULL,
    rezone boolean DEFAULT false NOT NULL,
    fired integer DEFAULT 0 NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    watch jsonb DEFAULT '{}'::jsonb NOT NULL,
    revision integer DEFAULT 0 NOT NULL,
    deleted_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    set_aside text DEFAULT ''::text NOT NULL,
    held boolean DEFAULT false NOT NULL,
    looks_begun integer DEFAULT 0 NOT NULL,
    CONSTRAINT tasks_kind_check CHECK ((kind = ANY (ARRAY['schedule'::text, 'event'::text, 'condition'::text]))),
    CONSTRAINT tasks_state_check CHECK ((state = ANY (ARRAY['ACTIVE'::text, 'PAUSED'::text, 'DISABLED'::text, 'COMPLETED'::text])))
);

ALTER TABLE ONLY public.tasks FORCE ROW LEVEL SECURITY;

CREATE TABLE public.tenants (
    tenant_id text NOT NULL,
    name text DEFAULT ''::text NOT NULL,
    language text DEFAULT ''::text NOT NULL,
    timezone text DEFAULT ''::text NOT NULL,
    role text DEFAULT 'member'::text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    tier text DEFAULT ''::text NOT NULL,
    preferred_channel text DEFAULT ''::text NOT NULL,
    quiet_from text DEFAULT ''::text NOT NULL,
    quiet_until text DEFAULT ''::text NOT NULL,
    muted text[] DEFAULT '{}'::text[] NOT NULL,
    while_running text DEFAULT 'steer'::text NOT NULL,
    channel_events boolean DEFAULT false NOT NULL,
    told_full_at timestamp with time zone,
    language_from text DEFAULT ''::text NOT NULL,
    CONSTRAINT tenants_quiet_check CHECK (((quiet_from = ''::text) = (quiet_until = ''::text))),
    CONSTRAINT tenants_quiet_from_check CHECK ((quiet_from ~ '^(|([01][0-9]|2[0-3]):[0-5][0-9])$'::text)),
    CONSTRAINT tenants_quiet_until_check CHECK ((quiet_until ~ '^(|([01][0-9]|2[0-3]):[0-5][0-9])$'::text)),
    CONSTRAINT tenants_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'member'::text, 'guest'::text]))),
    CONSTRAINT tenants_while_running_check CHECK ((while_running = ANY (ARRAY['steer'::text, 'queue'::text, 'interrupt'::text])))
);

ALTER TABLE ONLY public.tenants FORCE ROW LEVEL SECURITY;

CREATE TABLE public.turns (
    tenant_id text NOT NULL,
    id text NOT NULL,
    lane_id text NOT NULL,
    conversation_id text,
    state text DEFAULT 'running'::text NOT NULL,
    attempts integer DEFAULT 1 NOT NULL,
    fence bigint NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    usage jsonb DEFAULT '{}'::jsonb NOT NULL,
    stop_message text,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    finished_at timestamp with time zone,
    ready boolean DEFAULT false NOT NULL,
    waiting_step integer,
    quarantined boolean DEFAULT false NOT NULL,
    crashes integer DEFAULT 0 NOT NULL,
    solo_crashes integer DEFAULT 0 NOT NULL,
    crashed_after integer DEFAULT '-1'::integer NOT NULL,
    tried_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    model_down_since timestamp with time zone,
    model_tries integer DEFAULT 0 NOT NULL,
    told_of_delay boolean DEFAULT false NOT NULL,
    traceparent text DEFAULT NULLIF(current_setting('onevalet.trace'::text, true), ''::text),
    CONSTRAINT turns_state_check CHECK ((state = ANY (ARRAY['running'::text, 'waiting'::text, 'done'::text, 'failed'::text, 'interrupted'::text, 'poison'::text])))
);

ALTER TABLE ONLY public.turns FORCE ROW LEVEL SECURITY;

CREATE TABLE public.undo_records (
    tenant_id text NOT NULL,
    id text NOT NULL,
    turn_id text NOT NULL,
    number bigint NOT NULL,
    title text NOT NULL,
    tool text NOT NULL,
    arguments jsonb NOT NULL,
    open_until timestamp with time zone NOT NULL,
    taken_by text[] DEFAULT '{}'::text[] NOT NULL,
    undone boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone NOT NULL
);

ALTER TABLE ONLY public.undo_records FORCE ROW LEVEL SECURITY;

CREATE TABLE public.usage_days (
    tenant_id text NOT NULL,
    day date NOT NULL,
    task_id text DEFAULT ''::text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    calls bigint DEFAULT 0 NOT NULL,
    failed bigint DEFAULT 0 NOT NULL,
    input_tokens bigint DEFAULT 0 NOT NULL,
    output_tokens bigint DEFAULT 0 NOT NULL,
    cached_tokens bigint DEFAULT 0 NOT NULL,
    cost numeric(14,8) DEFAULT 0 NOT NULL,
    took_ms bigint DEFAULT 0 NOT NULL,
    CONSTRAINT usage_days_kind_check CHECK ((kind = ANY (ARRAY['model'::text, 'tool'::text, 'agent'::text, 'message'::text, 'turn'::text, 'answer'::text, 'background'::text])))
);

ALTER TABLE ONLY public.usage_days FORCE ROW LEVEL SECURITY;

CREATE TABLE public.usage_totals (
    day date NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    calls bigint NOT NULL,
    failed bigint NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cached_tokens bigint NOT NULL,
    cost numeric(20,8) NOT NULL,
    took_ms bigint NOT NULL
);

ALTER TABLE ONLY public.usage_totals FORCE ROW LEVEL SECURITY;

CREATE TABLE public.waiting_counts (
    shard integer NOT NULL,
    waiting bigint NOT NULL
)
WITH (fillfactor='30');

ALTER TABLE ONLY public.waiting_counts FORCE ROW LEVEL SECURITY;

CREATE TABLE public.worker_health (
    worker text NOT NULL,
    seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    clock_ahead double precision,
    failing jsonb DEFAULT '[]'::jsonb NOT NULL
);

ALTER TABLE ONLY public.worker_health FORCE ROW LEVEL SECURITY;

CREATE UNLOGGED TABLE public.write_probe (
    filler text NOT NULL
);
ALTER TABLE ONLY public.write_probe ALTER COLUMN filler SET STORAGE PLAIN;

ALTER TABLE ONLY public.write_probe FORCE ROW LEVEL SECURITY;

ALTER TABLE ONLY public.accepted_definitions
    ADD CONSTRAINT accepted_definitions_pkey PRIMARY KEY (kind, source, name);

ALTER TABLE ONLY public.account_prompts
    ADD CONSTRAINT account_prompts_pkey PRIMARY KEY (tenant_id, topic);

ALTER TABLE ONLY public.approval_audit
    ADD CONSTRAINT approval_audit_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.approval_cards
    ADD CONSTRAINT approval_cards_pkey PRIMARY KEY (tenant_id, outbound_id);

ALTER TABLE ONLY public.approval_codes
    ADD CONSTRAINT approval_codes_pkey PRIMARY KEY (tenant_id, code);

ALTER TABLE ONLY public.approvals
    ADD CONSTRAINT approvals_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.approvals
    ADD CONSTRAINT approvals_token_key UNIQUE (token);

ALTER TABLE ONLY public.backups
    ADD CONSTRAINT backups_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.channel_state
    ADD CONSTRAINT channel_state_pkey PRIMARY KEY (channel, account);

ALTER TABLE ONLY public.client_tokens
    ADD CONSTRAINT client_tokens_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.client_tokens
    ADD CONSTRAINT client_tokens_tenant_id_number_key UNIQUE (tenant_id, number);

ALTER TABLE ONLY public.client_tokens
    ADD CONSTRAINT client_tokens_token_hash_key UNIQUE (token_hash);

ALTER TABLE ONLY public.connect_links
    ADD CONSTRAINT connect_links_pkey PRIMARY KEY (tenant_id, token_hash);

ALTER TABLE ONLY public.consent_uses
    ADD CONSTRAINT consent_uses_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.consent_uses
    ADD CONSTRAINT consent_uses_tenant_id_consent_id_number_key UNIQUE (tenant_id, consent_id, number);

ALTER TABLE ONLY public.consent_uses
    ADD CONSTRAINT consent_uses_tenant_id_turn_id_call_id_key UNIQUE (tenant_id, turn_id, call_id);

ALTER TABLE ONLY public.consents
    ADD CONSTRAINT consents_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.console_actions
    ADD CONSTRAINT console_actions_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.console_links
    ADD CONSTRAINT console_links_pkey PRIMARY KEY (tenant_id, token_hash);

ALTER TABLE ONLY public.console_looks
    ADD CONSTRAINT console_looks_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.console_sessions
    ADD CONSTRAINT console_sessions_pkey PRIMARY KEY (tenant_id, token_hash);

ALTER TABLE ONLY public.conversations
    ADD CONSTRAINT conversations_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.conversations
    ADD CONSTRAINT conversations_place_key UNIQUE NULLS NOT DISTINCT (tenant_id, channel, account, peer, thread, recipient_id);

ALTER TABLE ONLY public.credentials
    ADD CONSTRAINT credentials_pkey PRIMARY KEY (tenant_id, service, account_name);

ALTER TABLE ONLY public.data_keys
    ADD CONSTRAINT data_keys_pkey PRIMARY KEY (tenant_id, version);

ALTER TABLE ONLY public.deletion_secret
    ADD CONSTRAINT deletion_secret_pkey PRIMARY KEY (one);

ALTER TABLE ONLY public.deletions
    ADD CONSTRAINT deletions_pkey PRIMARY KEY (person);

ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_pkey PRIMARY KEY (tenant_id, outbound_id, part, attempt);

ALTER TABLE ONLY public.directory
    ADD CONSTRAINT directory_pkey PRIMARY KEY (channel, account, user_key);

ALTER TABLE ONLY public.event_groups
    ADD CONSTRAINT event_groups_pkey PRIMARY KEY (name, pattern);

ALTER TABLE ONLY public.event_sources
    ADD CONSTRAINT event_sources_id_key UNIQUE (id);

ALTER TABLE ONLY public.event_sources
    ADD CONSTRAINT event_sources_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.event_sources
    ADD CONSTRAINT event_sources_tenant_id_name_key UNIQUE (tenant_id, name);

ALTER TABLE ONLY public.event_work
    ADD CONSTRAINT event_work_pkey PRIMARY KEY (tenant_id, source, event_id, group_name);

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (tenant_id, source, id);

ALTER TABLE ONLY public.export_links
    ADD CONSTRAINT export_links_pkey PRIMARY KEY (tenant_id, token_hash);

ALTER TABLE ONLY public.file_deletions
    ADD CONSTRAINT file_deletions_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.files
    ADD CONSTRAINT files_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.history
    ADD CONSTRAINT history_pkey PRIMARY KEY (tenant_id, conversation_id, "position");

ALTER TABLE ONLY public.identities
    ADD CONSTRAINT identities_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.ignored_messages
    ADD CONSTRAINT ignored_messages_pkey PRIMARY KEY (channel, account, key);

ALTER TABLE ONLY public.inbound_files
    ADD CONSTRAINT inbound_files_pkey PRIMARY KEY (tenant_id, inbound_id, number);

ALTER TABLE public.inbound
    ADD CONSTRAINT inbound_origin_check CHECK ((origin = ANY (ARRAY['own'::text, 'forwarded'::text, 'via_bot'::text, 'client'::text]))) NOT VALID;

ALTER TABLE ONLY public.inbound
    ADD CONSTRAINT inbound_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.inbound
    ADD CONSTRAINT inbound_tenant_id_conversation_id_seq_key UNIQUE (tenant_id, conversation_id, seq);

ALTER TABLE ONLY public.inbox_keys
    ADD CONSTRAINT inbox_keys_pkey PRIMARY KEY (tenant_id, channel, account, key);

ALTER TABLE ONLY public.lanes
    ADD CONSTRAINT lanes_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.link_codes
    ADD CONSTRAINT link_codes_code_hash_key UNIQUE (code_hash);

ALTER TABLE ONLY public.link_codes
    ADD CONSTRAINT link_codes_pkey PRIMARY KEY (tenant_id, code_hash);

ALTER TABLE ONLY public.linked_rows
    ADD CONSTRAINT linked_rows_pkey PRIMARY KEY (tenant_id, link_id, of, key);

ALTER TABLE ONLY public.links
    ADD CONSTRAINT links_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.mail_watches
    ADD CONSTRAINT mail_watches_id_key UNIQUE (id);

ALTER TABLE ONLY public.mail_watches
    ADD CONSTRAINT mail_watches_pkey PRIMARY KEY (tenant_id, service, account_name);

ALTER TABLE ONLY public.memories
    ADD CONSTRAINT memories_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.memories
    ADD CONSTRAINT memories_tenant_id_number_key UNIQUE (tenant_id, number);

ALTER TABLE ONLY public.memories
    ADD CONSTRAINT memories_tenant_id_source_key_key UNIQUE (tenant_id, source_key);

ALTER TABLE ONLY public.memory_forgettings
    ADD CONSTRAINT memory_forgettings_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.memory_jobs
    ADD CONSTRAINT memory_jobs_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.memory_members
    ADD CONSTRAINT memory_members_pkey PRIMARY KEY (tenant_id, name);

ALTER TABLE ONLY public.memory_messages
    ADD CONSTRAINT memory_messages_pkey PRIMARY KEY (tenant_id, session, "position");

ALTER TABLE ONLY public.memory_recalls
    ADD CONSTRAINT memory_recalls_pkey PRIMARY KEY (tenant_id, turn_id);

ALTER TABLE ONLY public.memory_sessions
    ADD CONSTRAINT memory_sessions_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.memory_terms
    ADD CONSTRAINT memory_terms_pkey PRIMARY KEY (tenant_id, embedder, term);

ALTER TABLE ONLY public.memory_vectors
    ADD CONSTRAINT memory_vectors_pkey PRIMARY KEY (tenant_id, memory_id, embedder);

ALTER TABLE ONLY public.memory_versions
    ADD CONSTRAINT memory_versions_pkey PRIMARY KEY (tenant_id);

ALTER TABLE ONLY public.message_words
    ADD CONSTRAINT message_words_pkey PRIMARY KEY (tenant_id, message_id);

ALTER TABLE ONLY public.notifications
    ADD CONSTRAINT notifications_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.outbound_parts
    ADD CONSTRAINT outbound_parts_pkey PRIMARY KEY (tenant_id, outbound_id, part);

ALTER TABLE ONLY public.outbound_parts
    ADD CONSTRAINT outbound_parts_ref_key UNIQUE (ref);

ALTER TABLE ONLY public.outbound
    ADD CONSTRAINT outbound_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.outbound
    ADD CONSTRAINT outbound_tenant_id_conversation_id_seq_key UNIQUE (tenant_id, conversation_id, seq);

ALTER TABLE ONLY public.own_partition
    ADD CONSTRAINT own_partition_pkey PRIMARY KEY (one);

ALTER TABLE ONLY public.pairings
    ADD CONSTRAINT pairings_pkey PRIMARY KEY (code_hash);

ALTER TABLE ONLY public.person_audit
    ADD CONSTRAINT person_audit_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.pool_entries
    ADD CONSTRAINT pool_entries_pkey PRIMARY KEY (tenant_id, agent_id);

ALTER TABLE ONLY public.profile_facts
    ADD CONSTRAINT profile_facts_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.profile_facts
    ADD CONSTRAINT profile_facts_tenant_id_number_key UNIQUE (tenant_id, number);

ALTER TABLE ONLY public.profile_jobs
    ADD CONSTRAINT profile_jobs_pkey PRIMARY KEY (tenant_id, turn_id);

ALTER TABLE ONLY public.prompts
    ADD CONSTRAINT prompts_pkey PRIMARY KEY (tenant_id, turn_id, agent_path, step);

ALTER TABLE ONLY public.question_cards
    ADD CONSTRAINT question_cards_pkey PRIMARY KEY (tenant_id, outbound_id);

ALTER TABLE ONLY public.questions
    ADD CONSTRAINT questions_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.questions
    ADD CONSTRAINT questions_token_key UNIQUE (token);

ALTER TABLE ONLY public.recipients
    ADD CONSTRAINT recipients_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.redraws
    ADD CONSTRAINT redraws_pkey PRIMARY KEY (tenant_id, outbound_id);

ALTER TABLE ONLY public.reservations
    ADD CONSTRAINT reservations_pkey PRIMARY KEY (tenant_id, turn_id, agent_path, step, call_index);

ALTER TABLE ONLY public.retention_marks
    ADD CONSTRAINT retention_marks_pkey PRIMARY KEY (kind);

ALTER TABLE ONLY public.run_notices
    ADD CONSTRAINT run_notices_pkey PRIMARY KEY (tenant_id, run_id, key);

ALTER TABLE ONLY public.schema_ability_migrations
    ADD CONSTRAINT schema_ability_migrations_pkey PRIMARY KEY (ability, number);

ALTER TABLE ONLY public.schema_functions
    ADD CONSTRAINT schema_functions_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (number);

ALTER TABLE ONLY public.segment_days
    ADD CONSTRAINT segment_days_pkey PRIMARY KEY (tenant_id, day);

ALTER TABLE ONLY public.segments_of_all
    ADD CONSTRAINT segments_of_all_pkey PRIMARY KEY (day);

ALTER TABLE ONLY public.spending
    ADD CONSTRAINT spending_pkey PRIMARY KEY (tenant_id, day, task_id);

ALTER TABLE ONLY public.standing_consents
    ADD CONSTRAINT standing_consents_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.steps
    ADD CONSTRAINT steps_pkey PRIMARY KEY (tenant_id, turn_id, agent_path, step, call_index);

ALTER TABLE ONLY public.stored_collections
    ADD CONSTRAINT stored_collections_pkey PRIMARY KEY (tenant_id, name);

ALTER TABLE ONLY public.stored_values
    ADD CONSTRAINT stored_values_pkey PRIMARY KEY (tenant_id, collection, key);

ALTER TABLE ONLY public.stored_values
    ADD CONSTRAINT stored_values_tenant_id_collection_number_key UNIQUE (tenant_id, collection, number);

ALTER TABLE ONLY public.task_runs
    ADD CONSTRAINT task_runs_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.task_runs
    ADD CONSTRAINT task_runs_tenant_id_task_id_occurrence_key UNIQUE (tenant_id, task_id, occurrence);

ALTER TABLE ONLY public.tasks
    ADD CONSTRAINT tasks_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.tasks
    ADD CONSTRAINT tasks_tenant_id_number_key UNIQUE (tenant_id, number);

ALTER TABLE ONLY public.tenants
    ADD CONSTRAINT tenants_pkey PRIMARY KEY (tenant_id);

ALTER TABLE ONLY public.turns
    ADD CONSTRAINT turns_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.undo_records
    ADD CONSTRAINT undo_records_pkey PRIMARY KEY (tenant_id, id);

ALTER TABLE ONLY public.usage_days
    ADD CONSTRAINT usage_days_pkey PRIMARY KEY (tenant_id, day, task_id, kind, name);

ALTER TABLE ONLY public.usage_totals
    ADD CONSTRAINT usage_totals_pkey PRIMARY KEY (day, kind, name);

ALTER TABLE ONLY public.waiting_counts
    ADD CONSTRAINT waiting_counts_pkey PRIMARY KEY (shard);

ALTER TABLE ONLY public.worker_health
    ADD CONSTRAINT worker_health_pkey PRIMARY KEY (worker);

CREATE INDEX approval_audit_approval ON public.approval_audit USING btree (tenant_id, approval_id);

CREATE INDEX approval_audit_at ON public.approval_audit USING btree (at);

CREATE INDEX approval_cards_approval ON public.approval_cards USING btree (tenant_id, approval_id);

CREATE INDEX approval_cards_numbers ON public.approval_cards USING btree (tenant_id) WHERE (role = 'number'::text);

CREATE UNIQUE INDEX approvals_code ON public.approvals USING btree (tenant_id, code) WHERE (state = 'pending'::text);

CREATE INDEX approvals_due ON public.approvals USING btree (LEAST(expires_at, remind_at)) WHERE (state = 'pending'::text);

CREATE INDEX approvals_turn ON public.approvals USING btree (tenant_id, turn_id);

CREATE INDEX approvals_unsent ON public.approvals USING btree (created_at) WHERE ((state = 'pending'::text) AND (expires_at IS NULL));

CREATE INDEX backups_finished ON public.backups USING btree (finished_at);

CREATE INDEX client_tokens_ended ON public.client_tokens USING btree (LEAST(expires_at, revoked_at));

CREATE INDEX connect_links_by_state ON public.connect_links USING btree (state_hash) WHERE (state_hash IS NOT NULL);

CREATE INDEX connect_links_by_token ON public.connect_links USING btree (token_hash);

CREATE INDEX consents_address ON public.consents USING btree (channel, account, user_key, id);

CREATE INDEX console_links_by_token ON public.console_links USING btree (token_hash);

CREATE INDEX console_sessions_by_token ON public.console_sessions USING btree (token_hash);

CREATE UNIQUE INDEX credentials_preferred ON public.credentials USING btree (tenant_id, service) WHERE preferred;

CREATE INDEX credentials_to_attend ON public.credentials USING btree (attend_at) WHERE (attend_at IS NOT NULL);

CREATE INDEX deletions_open ON public.deletions USING btree (due_at) WHERE (finished_at IS NULL);

CREATE INDEX deliveries_lost ON public.deliveries USING btree (finished_at) WHERE (outcome = ANY (ARRAY['ambiguous'::text, 'found'::text, 'left'::text]));

CREATE INDEX event_sources_created ON public.event_sources USING btree (created_at);

CREATE INDEX event_sources_hash ON public.event_sources USING btree (secret_hash) WHERE (secret_hash IS NOT NULL);

CREATE INDEX event_work_waiting ON public.event_work USING btree (group_name, next_attempt_at) WHERE (state = 'waiting'::text);

CREATE INDEX events_received ON public.events USING btree (received_at);

CREATE INDEX export_links_by_token ON public.export_links USING btree (token_hash);

CREATE INDEX files_key ON public.files USING btree (key);

CREATE INDEX files_unfinished ON public.files USING btree (created_at) WHERE (state = 'storing'::text);

CREATE INDEX files_used ON public.files USING btree (used_at);

CREATE INDEX guesses_scope ON public.guesses USING btree (scope, at);

CREATE INDEX history_apart ON public.history USING btree (created_at) WHERE (turn_id IS NULL);

CREATE INDEX history_turn ON public.history USING btree (tenant_id, turn_id) WHERE (turn_id IS NOT NULL);

CREATE INDEX identities_strangers ON public.identities USING btree (tenant_id, id) WHERE (admitted = ''::text);

CREATE INDEX ignored_messages_received ON public.ignored_messages USING btree (received_at);

CREATE INDEX inbound_apart ON public.inbound USING btree (received_at) WHERE (turn_id IS NULL);

CREATE INDEX inbound_id ON public.inbound USING btree (id);

CREATE INDEX inbound_provider ON public.inbound USING btree (provider_id) WHERE (provider_id <> ''::text);

CREATE INDEX inbound_turn ON public.inbound USING btree (tenant_id, turn_id);

CREATE INDEX inbound_waiting ON public.inbound USING btree (tenant_id, conversation_id, seq) WHERE (state = 'waiting'::text);

CREATE INDEX inbox_keys_inbound ON public.inbox_keys USING btree (tenant_id, inbound_id);

CREATE INDEX inbox_keys_received ON public.inbox_keys USING btree (received_at);

CREATE INDEX lanes_busy ON public.lanes USING btree (tenant_id) WHERE (lease_until IS NOT NULL);

CREATE INDEX lanes_id ON public.lanes USING btree (id);

CREATE INDEX lanes_owner ON public.lanes USING btree (owner) WHERE (owner IS NOT NULL);

CREATE INDEX lanes_pending ON public.lanes USING btree (pending_since) WHERE pending;

CREATE INDEX lanes_process ON public.lanes USING btree (process) WHERE (owner IS NOT NULL);

CREATE INDEX link_codes_made ON public.link_codes USING btree (made_at);

CREATE INDEX mail_watches_due ON public.mail_watches USING btree (next_attempt_at) WHERE (NOT ended);

CREATE INDEX mail_watches_owner ON public.mail_watches USING btree (owner) WHERE (owner IS NOT NULL);

CREATE INDEX memories_unread ON public.memories USING btree (tenant_id, number) WHERE (extractor = 'rules, until read'::text);

CREATE INDEX memories_valid ON public.memories USING btree (tenant_id, collection) WHERE (valid_to IS NULL);

CREATE INDEX memory_jobs_due ON public.memory_jobs USING btree (not_before);

CREATE INDEX memory_members_shared ON public.memory_members USING btree (shared_id);

CREATE INDEX memory_sessions_due ON public.memory_sessions USING btree (expires_at);

CREATE INDEX message_words_at ON public.message_words USING btree (at DESC, message_id DESC);

CREATE INDEX message_words_conversation ON public.message_words USING btree (tenant_id, conversation_id);

CREATE INDEX message_words_person ON public.message_words USING btree (tenant_id, at DESC, message_id DESC);

CREATE INDEX message_words_words ON public.message_words USING gin (words);

CREATE INDEX notifications_at ON public.notifications USING btree (at);

CREATE INDEX notifications_conversation ON public.notifications USING btree (tenant_id, conversation_id);

CREATE INDEX notifications_failed ON public.notifications USING btree (tenant_id, id) WHERE (state = 'failed'::text);

CREATE INDEX notifications_held ON public.notifications USING btree (not_before) WHERE (state = 'held'::text);

CREATE INDEX notifications_key ON public.notifications USING btree (tenant_id, dedupe_key, at);

CREATE INDEX notifications_open ON public.notifications USING btree (queued_at) WHERE (state = 'queued'::text);

CREATE INDEX notifications_outbound ON public.notifications USING btree (tenant_id, outbound_id);

CREATE INDEX notifications_queued ON public.notifications USING btree (tenant_id, queued_at);

CREATE INDEX notifications_silent ON public.notifications USING btree (fall_back_at) WHERE ((state = 'sent'::text) AND (fall_back_at IS NOT NULL));

CREATE INDEX outbound_apart ON public.outbound USING btree (created_at) WHERE (turn_id IS NULL);

CREATE INDEX outbound_conversation ON public.outbound USING btree (conversation_id) WHERE (state = ANY (ARRAY['ready'::text, 'sending'::text, 'checking'::text]));

CREATE INDEX outbound_due ON public.outbound USING btree (next_attempt_at) WHERE (state = ANY (ARRAY['ready'::text, 'sending'::text, 'checking'::text]));

CREATE INDEX outbound_given_up ON public.outbound USING btree (tenant_id, conversation_id) WHERE (given_up_at IS NOT NULL);

CREATE UNIQUE INDEX outbound_growing ON public.outbound USING btree (tenant_id, turn_id) WHERE ((state = 'held'::text) AND (stream_at IS NOT NULL));

CREATE INDEX outbound_held ON public.outbound USING btree (tenant_id) WHERE (state = 'held'::text);

CREATE INDEX outbound_id ON public.outbound USING btree (id);

CREATE INDEX outbound_open ON public.outbound USING btree (tenant_id, conversation_id, seq) WHERE (state = ANY (ARRAY['ready'::text, 'sending'::text, 'checking'::text]));

CREATE INDEX outbound_owner ON public.outbound USING btree (owner) WHERE (owner IS NOT NULL);

CREATE INDEX outbound_parts_provider ON public.outbound_parts USING btree (provider_id) WHERE (provider_id <> ''::text);

CREATE INDEX outbound_trouble ON public.outbound USING btree (state, created_at DESC, id) WHERE (state = ANY (ARRAY['failed'::text, 'ambiguous'::text]));

CREATE INDEX outbound_turn ON public.outbound USING btree (tenant_id, turn_id) WHERE (turn_id IS NOT NULL);

CREATE INDEX outbound_unsettled ON public.outbound USING btree (created_at, id) WHERE (((state = ANY (ARRAY['held'::text, 'failed'::text, 'ambiguous'::text])) OR ((state = 'sent'::text) AND undelivered)) AND (resolution = ''::text));

CREATE INDEX outbound_unsettled_of_person ON public.outbound USING btree (tenant_id, created_at, id) WHERE (((state = ANY (ARRAY['held'::text, 'failed'::text, 'ambiguous'::text])) OR ((state = 'sent'::text) AND undelivered)) AND (resolution = ''::text));

CREATE INDEX pairings_account ON public.pairings USING btree (channel, account, asked_at);

CREATE INDEX pool_entries_due ON public.pool_entries USING btree (expires_at) WHERE (status <> ALL (ARRAY['CANCELLED'::text, 'COMPLETED'::text]));

CREATE INDEX pool_entries_turn ON public.pool_entries USING btree (tenant_id, turn_id);

CREATE INDEX profile_facts_in_force ON public.profile_facts USING btree (tenant_id, key) WHERE ((replaced_by IS NULL) AND (undone_at IS NULL));

CREATE INDEX profile_jobs_due ON public.profile_jobs USING btree (not_before);

CREATE INDEX prompts_created ON public.prompts USING btree (created_at);

CREATE INDEX question_cards_question ON public.question_cards USING btree (tenant_id, question_id);

CREATE INDEX questions_open ON public.questions USING btree (tenant_id, agent_id) WHERE (state = 'open'::text);

CREATE INDEX questions_turn ON public.questions USING btree (tenant_id, turn_id);

CREATE INDEX recipients_address ON public.recipients USING btree (channel, account, user_key, written_at);

CREATE INDEX redraws_due ON public.redraws USING btree (next_attempt_at) WHERE (state = 'due'::text);

CREATE INDEX reservations_day ON public.reservations USING btree (tenant_id, day) WHERE (NOT settled);

CREATE INDEX run_notices_failed ON public.run_notices USING btree (tenant_id) WHERE (state = 'failed'::text);

CREATE INDEX run_notices_open ON public.run_notices USING btree (next_attempt_at) WHERE (state = 'open'::text);

CREATE INDEX segment_days_day ON public.segment_days USING btree (day);

CREATE INDEX spending_day ON public.spending USING btree (day) WHERE (task_id = ''::text);

CREATE INDEX standing_consents_end ON public.standing_consents USING btree (expires_at) WHERE (state = 'active'::text);

CREATE INDEX standing_consents_number ON public.standing_consents USING btree (tenant_id, number DESC);

CREATE INDEX steps_unknown ON public.steps USING btree (tenant_id, name, args_hash) WHERE (outcome = 'unknown'::text);

CREATE INDEX task_runs_conversation ON public.task_runs USING btree (tenant_id, conversation_id);

CREATE INDEX task_runs_over ON public.task_runs USING btree (finished_at) WHERE (finished_at IS NOT NULL);

CREATE INDEX task_runs_task ON public.task_runs USING btree (tenant_id, task_id, created_at DESC);

CREATE INDEX task_runs_turn ON public.task_runs USING btree (tenant_id, turn_id);

CREATE INDEX tasks_by_next ON public.tasks USING btree (COALESCE(next_at, 'infinity'::timestamp with time zone), id) WHERE (deleted_at IS NULL);

CREATE INDEX tasks_due ON public.tasks USING btree (next_at) WHERE ((state = 'ACTIVE'::text) AND (next_at IS NOT NULL) AND (NOT held));

CREATE INDEX tasks_events ON public.tasks USING btree (tenant_id) WHERE ((kind = 'event'::text) AND (state = 'ACTIVE'::text));

CREATE INDEX tasks_over ON public.tasks USING btree (ended_at) WHERE (ended_at IS NOT NULL);

CREATE INDEX tasks_set_aside ON public.tasks USING btree (tenant_id, number) WHERE (set_aside <> ''::text);

CREATE INDEX tenants_newest ON public.tenants USING btree (created_at, tenant_id);

CREATE INDEX turns_finished ON public.turns USING btree (finished_at) WHERE (finished_at IS NOT NULL);

CREATE INDEX turns_id ON public.turns USING btree (id);

CREATE UNIQUE INDEX turns_one_running ON public.turns USING btree (tenant_id, lane_id) WHERE (state = 'running'::text);

CREATE INDEX turns_open ON public.turns USING btree (tenant_id, conversation_id) WHERE (state = ANY (ARRAY['running'::text, 'waiting'::text]));

CREATE INDEX turns_poison ON public.turns USING btree (started_at DESC, id) WHERE (state = 'poison'::text);

CREATE INDEX turns_quarantined ON public.turns USING btree (tenant_id, lane_id) WHERE ((state = 'running'::text) AND quarantined);

CREATE INDEX turns_ready ON public.turns USING btree (tenant_id, lane_id) WHERE ((state = 'waiting'::text) AND ready);

CREATE INDEX turns_waiting ON public.turns USING btree (started_at, id) WHERE (state = 'waiting'::text);

CREATE INDEX undo_records_number ON public.undo_records USING btree (tenant_id, number DESC);

CREATE INDEX undo_records_until ON public.undo_records USING btree (open_until);

CREATE INDEX usage_days_background ON public.usage_days USING btree (day) WHERE (kind = 'background'::text);

CREATE INDEX usage_days_day ON public.usage_days USING btree (day);

CREATE INDEX usage_days_models ON public.usage_days USING btree (day) WHERE (kind = 'model'::text);

CREATE INDEX usage_days_tasks ON public.usage_days USING btree (day) WHERE ((kind = 'model'::text) AND (task_id <> ''::text));

CREATE TRIGGER adopt_stream BEFORE INSERT ON public.outbound FOR EACH ROW WHEN (((new.kind = 'reply'::text) AND (new.turn_id IS NOT NULL) AND (new.stream_at IS NULL))) EXECUTE FUNCTION public.adopt_stream();

CREATE TRIGGER approvals_told AFTER UPDATE OF expires_at, state ON public.approvals FOR EACH ROW WHEN (((new.source = 'trigger'::text) AND (((old.expires_at IS NULL) AND (new.expires_at IS NOT NULL)) OR ((old.state = 'pending'::text) AND (new.state <> 'pending'::text))))) EXECUTE FUNCTION public.tell_of_card();

CREATE TRIGGER credentials_changed AFTER UPDATE OF credentials_json ON public.credentials FOR EACH ROW WHEN ((old.tenant_id = new.tenant_id)) EXECUTE FUNCTION public.note_credentials_changed();

CREATE TRIGGER credentials_mail AFTER INSERT ON public.credentials FOR EACH ROW EXECUTE FUNCTION public.note_mail_wanted();

CREATE TRIGGER enqueue_memory AFTER UPDATE OF state ON public.turns FOR EACH ROW WHEN (((new.state = ANY (ARRAY['waiting'::text, 'done'::text, 'failed'::text, 'interrupted'::text])) AND (old.state IS DISTINCT FROM new.state))) EXECUTE FUNCTION public.enqueue_memory();

CREATE TRIGGER files_deleted AFTER DELETE ON public.files FOR EACH ROW EXECUTE FUNCTION public.delete_bytes();

CREATE TRIGGER identities_consent AFTER UPDATE OF state ON public.identities FOR EACH ROW WHEN ((old.state IS DISTINCT FROM new.state)) EXECUTE FUNCTION public.note_consent();

CREATE TRIGGER identities_directory AFTER INSERT OR DELETE OR UPDATE OF tenant_id, id, channel, account, user_key ON public.identities FOR EACH ROW EXECUTE FUNCTION public.note_address();

CREATE TRIGGER identities_hold AFTER INSERT OR DELETE OR UPDATE OF state, tenant_id ON public.identities FOR EACH ROW EXECUTE FUNCTION public.hold_tasks();

CREATE TRIGGER identities_reachable AFTER UPDATE OF state ON public.identities FOR EACH ROW WHEN (((old.state = ANY (ARRAY['stopped'::text, 'blocked'::text])) AND (new.state = 'active'::text))) EXECUTE FUNCTION public.drop_reach();

CREATE TRIGGER identities_unreachable AFTER UPDATE OF state ON public.identities FOR EACH ROW WHEN (((old.state = 'active'::text) AND (new.state = ANY (ARRAY['stopped'::text, 'blocked'::text])) AND (new.admitted <> ''::text) AND (new.state_reason <> 'unlinked'::text))) EXECUTE FUNCTION public.tell_elsewhere();

CREATE TRIGGER inbound_again AFTER UPDATE OF state ON public.inbound FOR EACH ROW WHEN (((old.state <> 'waiting'::text) AND (new.state = 'waiting'::text))) EXECUTE FUNCTION public.note_waiting('1');

CREATE TRIGGER inbound_came AFTER INSERT ON public.inbound FOR EACH ROW WHEN ((new.state = 'waiting'::text)) EXECUTE FUNCTION public.note_waiting('1');

CREATE TRIGGER inbound_event AFTER INSERT ON public.inbound FOR EACH ROW WHEN (((new.state = 'waiting'::text) AND (new.command IS NULL))) EXECUTE FUNCTION public.note_received();

CREATE TRIGGER inbound_gone AFTER DELETE ON public.inbound FOR EACH ROW WHEN ((old.state = 'waiting'::text)) EXECUTE FUNCTION public.note_waiting('-1');

CREATE TRIGGER inbound_taken AFTER UPDATE OF state ON public.inbound FOR EACH ROW WHEN (((old.state = 'waiting'::text) AND (new.state <> 'waiting'::text))) EXECUTE FUNCTION public.note_waiting('-1');

CREATE TRIGGER inbound_words AFTER UPDATE OF state, text, heard ON public.inbound FOR EACH ROW WHEN (((new.state = 'done'::text) AND ((old.state <> 'done'::text) OR (old.text <> new.text) OR (old.heard <> new.heard)))) EXECUTE FUNCTION public.keep_inbound_words();

CREATE TRIGGER message_words_person BEFORE UPDATE OF tenant_id ON public.message_words FOR EACH ROW WHEN ((old.tenant_id <> new.tenant_id)) EXECUTE FUNCTION public.change_person_word();

CREATE TRIGGER outbound_answer_time AFTER UPDATE OF state ON public.outbound FOR EACH ROW WHEN (((old.sent_at IS NULL) AND (new.sent_at IS NOT NULL) AND (new.kind = 'reply'::text) AND (new.turn_id IS NOT NULL))) EXECUTE FUNCTION public.add_answer_time();

CREATE TRIGGER outbound_event AFTER UPDATE OF state ON public.outbound FOR EACH ROW WHEN (((old.state <> 'failed'::text) AND (new.state = 'failed'::text))) EXECUTE FUNCTION public.note_undelivered();

CREATE TRIGGER outbound_notification AFTER UPDATE OF state ON public.outbound FOR EACH ROW WHEN (((new.kind = 'notification'::text) AND (old.state IS DISTINCT FROM new.state) AND (new.state = ANY (ARRAY['sent'::text, 'ambiguous'::text, 'failed'::text])))) EXECUTE FUNCTION public.note_notification();

CREATE TRIGGER outbound_outreach AFTER UPDATE OF state ON public.outbound FOR EACH ROW WHEN (((new.kind = 'outreach'::text) AND (old.state IS DISTINCT FROM new.state) AND (new.state = ANY (ARRAY['sent'::text, 'ambiguous'::text, 'failed'::text])))) EXECUTE FUNCTION public.note_outreach();

CREATE TRIGGER outbound_part_outreach AFTER UPDATE OF status ON public.outbound_parts FOR EACH ROW WHEN (((old.status IS DISTINCT FROM new.status) AND (new.status = ANY (ARRAY['undelivered'::text, 'failed'::text])))) EXECUTE FUNCTION public.note_outreach_undelivered();

CREATE TRIGGER outbound_part_undelivered AFTER UPDATE OF status ON public.outbound_parts FOR EACH ROW WHEN (((old.status IS DISTINCT FROM new.status) AND (new.status = ANY (ARRAY['undelivered'::text, 'failed'::text])))) EXECUTE FUNCTION public.note_notification_undelivered();

CREATE TRIGGER outbound_words AFTER UPDATE OF state, text ON public.outbound FOR EACH ROW WHEN (((new.state = 'sent'::text) AND (new.kind <> 'receipt'::text) AND ((old.state <> 'sent'::text) OR (old.text <> new.text)))) EXECUTE FUNCTION public.keep_outbound_words();

CREATE TRIGGER questions_settled AFTER DELETE OR UPDATE ON public.pool_entries FOR EACH ROW EXECUTE FUNCTION public.settle_questions();

CREATE CONSTRAINT TRIGGER release_stream AFTER UPDATE OF state ON public.turns DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((new.state <> 'running'::text)) EXECUTE FUNCTION public.release_stream();

CREATE TRIGGER tasks_end BEFORE UPDATE OF state ON public.tasks FOR EACH ROW WHEN ((old.state IS DISTINCT FROM new.state)) EXECUTE FUNCTION public.note_task_end();

CREATE TRIGGER tasks_hold BEFORE INSERT OR UPDATE OF tenant_id ON public.tasks FOR EACH ROW EXECUTE FUNCTION public.hold_task();

CREATE TRIGGER tasks_looks BEFORE UPDATE OF revision ON public.tasks FOR EACH ROW WHEN ((old.revision IS DISTINCT FROM new.revision)) EXECUTE FUNCTION public.forget_looks();

CREATE TRIGGER tasks_mail AFTER INSERT ON public.tasks FOR EACH ROW WHEN ((new.kind = 'event'::text)) EXECUTE FUNCTION public.note_mail_wanted();

CREATE TRIGGER tasks_mail_changed AFTER UPDATE OF tenant_id, state, trigger ON public.tasks FOR EACH ROW WHEN (((new.kind = 'event'::text) AND (((old.tenant_id IS DISTINCT FROM new.tenant_id) OR (old.state IS DISTINCT FROM new.state)) OR (old.trigger IS DISTINCT FROM new.trigger)))) EXECUTE FUNCTION public.note_mail_wanted();

CREATE TRIGGER tenants_mail AFTER UPDATE OF channel_events ON public.tenants FOR EACH ROW WHEN ((old.channel_events <> new.channel_events)) EXECUTE FUNCTION public.note_mail_wanted();

CREATE TRIGGER tenants_partition BEFORE INSERT ON public.tenants FOR EACH ROW EXECUTE FUNCTION public.check_partition();

CREATE TRIGGER tenants_reconsider AFTER UPDATE OF quiet_from, quiet_until, timezone, muted ON public.tenants FOR EACH ROW WHEN (((((old.quiet_from IS DISTINCT FROM new.quiet_from) OR (old.quiet_until IS DISTINCT FROM new.quiet_until)) OR (old.timezone IS DISTINCT FROM new.timezone)) OR (old.muted IS DISTINCT FROM new.muted))) EXECUTE FUNCTION public.reconsider_held();

CREATE TRIGGER tenants_rezone AFTER UPDATE OF timezone ON public.tenants FOR EACH ROW WHEN ((old.timezone IS DISTINCT FROM new.timezone)) EXECUTE FUNCTION public.rezone_tasks();

CREATE TRIGGER turns_profile AFTER UPDATE OF state ON public.turns FOR EACH ROW WHEN (((old.state = 'running'::text) AND (new.state = ANY (ARRAY['done'::text, 'waiting'::text])))) EXECUTE FUNCTION public.enqueue_profile();

CREATE TRIGGER turns_usage AFTER UPDATE OF state ON public.turns FOR EACH ROW WHEN (((old.finished_at IS NULL) AND (new.finished_at IS NOT NULL))) EXECUTE FUNCTION public.add_turn_usage();

ALTER TABLE ONLY public.account_prompts
    ADD CONSTRAINT account_prompts_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.approval_audit
    ADD CONSTRAINT approval_audit_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.approval_cards
    ADD CONSTRAINT approval_cards_tenant_id_approval_id_fkey FOREIGN KEY (tenant_id, approval_id) REFERENCES public.approvals(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.approval_cards
    ADD CONSTRAINT approval_cards_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.approval_cards
    ADD CONSTRAINT approval_cards_tenant_id_outbound_id_fkey FOREIGN KEY (tenant_id, outbound_id) REFERENCES public.outbound(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.approval_codes
    ADD CONSTRAINT approval_codes_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.approvals
    ADD CONSTRAINT approvals_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.approvals
    ADD CONSTRAINT approvals_tenant_id_turn_id_fkey FOREIGN KEY (tenant_id, turn_id) REFERENCES public.turns(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.client_tokens
    ADD CONSTRAINT client_tokens_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.connect_links
    ADD CONSTRAINT connect_links_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.consent_uses
    ADD CONSTRAINT consent_uses_tenant_id_consent_id_fkey FOREIGN KEY (tenant_id, consent_id) REFERENCES public.standing_consents(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.consent_uses
    ADD CONSTRAINT consent_uses_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.console_actions
    ADD CONSTRAINT console_actions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.console_links
    ADD CONSTRAINT console_links_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.console_looks
    ADD CONSTRAINT console_looks_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.console_sessions
    ADD CONSTRAINT console_sessions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.conversations
    ADD CONSTRAINT conversations_recipient_fkey FOREIGN KEY (tenant_id, recipient_id) REFERENCES public.recipients(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.conversations
    ADD CONSTRAINT conversations_tenant_id_identity_id_fkey FOREIGN KEY (tenant_id, identity_id) REFERENCES public.identities(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.credentials
    ADD CONSTRAINT credentials_tenant_id_key_version_fkey FOREIGN KEY (tenant_id, key_version) REFERENCES public.data_keys(tenant_id, version) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.data_keys
    ADD CONSTRAINT data_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_tenant_id_outbound_id_part_fkey FOREIGN KEY (tenant_id, outbound_id, part) REFERENCES public.outbound_parts(tenant_id, outbound_id, part) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.event_sources
    ADD CONSTRAINT event_sources_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.event_sources
    ADD CONSTRAINT event_sources_tenant_id_key_version_fkey FOREIGN KEY (tenant_id, key_version) REFERENCES public.data_keys(tenant_id, version) DEFERRABLE;

ALTER TABLE ONLY public.event_work
    ADD CONSTRAINT event_work_tenant_id_source_event_id_fkey FOREIGN KEY (tenant_id, source, event_id) REFERENCES public.events(tenant_id, source, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.export_links
    ADD CONSTRAINT export_links_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.files
    ADD CONSTRAINT files_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.history
    ADD CONSTRAINT history_tenant_id_conversation_id_fkey FOREIGN KEY (tenant_id, conversation_id) REFERENCES public.conversations(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.history
    ADD CONSTRAINT history_tenant_id_turn_id_fkey FOREIGN KEY (tenant_id, turn_id) REFERENCES public.turns(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.identities
    ADD CONSTRAINT identities_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.inbound_files
    ADD CONSTRAINT inbound_files_tenant_id_inbound_id_fkey FOREIGN KEY (tenant_id, inbound_id) REFERENCES public.inbound(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.inbound
    ADD CONSTRAINT inbound_tenant_id_conversation_id_fkey FOREIGN KEY (tenant_id, conversation_id) REFERENCES public.conversations(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.inbound
    ADD CONSTRAINT inbound_tenant_id_turn_id_fkey FOREIGN KEY (tenant_id, turn_id) REFERENCES public.turns(tenant_id, id) DEFERRABLE;

ALTER TABLE ONLY public.inbox_keys
    ADD CONSTRAINT inbox_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.lanes
    ADD CONSTRAINT lanes_tenant_id_conversation_id_fkey FOREIGN KEY (tenant_id, conversation_id) REFERENCES public.conversations(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.lanes
    ADD CONSTRAINT lanes_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.link_codes
    ADD CONSTRAINT link_codes_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.linked_rows
    ADD CONSTRAINT linked_rows_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.linked_rows
    ADD CONSTRAINT linked_rows_tenant_id_link_id_fkey FOREIGN KEY (tenant_id, link_id) REFERENCES public.links(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.links
    ADD CONSTRAINT links_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.mail_watches
    ADD CONSTRAINT mail_watches_tenant_id_service_account_name_fkey FOREIGN KEY (tenant_id, service, account_name) REFERENCES public.credentials(tenant_id, service, account_name) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.memories
    ADD CONSTRAINT memories_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.memory_forgettings
    ADD CONSTRAINT memory_forgettings_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.memory_jobs
    ADD CONSTRAINT memory_jobs_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.memory_jobs
    ADD CONSTRAINT memory_jobs_tenant_id_turn_id_fkey FOREIGN KEY (tenant_id, turn_id) REFERENCES public.turns(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.memory_members
    ADD CONSTRAINT memory_members_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.memory_messages
    ADD CONSTRAINT memory_messages_tenant_id_session_fkey FOREIGN KEY (tenant_id, session) REFERENCES public.memory_sessions(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.memory_recalls
    ADD CONSTRAINT memory_recalls_tenant_id_turn_id_fkey FOREIGN KEY (tenant_id, turn_id) REFERENCES public.turns(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.memory_sessions
    ADD CONSTRAINT memory_sessions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.memory_terms
    ADD CONSTRAINT memory_terms_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.memory_vectors
    ADD CONSTRAINT memory_vectors_tenant_id_memory_id_fkey FOREIGN KEY (tenant_id, memory_id) REFERENCES public.memories(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.memory_versions
    ADD CONSTRAINT memory_versions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.message_words
    ADD CONSTRAINT message_words_tenant_id_conversation_id_fkey FOREIGN KEY (tenant_id, conversation_id) REFERENCES public.conversations(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.message_words
    ADD CONSTRAINT message_words_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.notifications
    ADD CONSTRAINT notifications_tenant_id_conversation_id_fkey FOREIGN KEY (tenant_id, conversation_id) REFERENCES public.conversations(tenant_id, id) ON DELETE SET NULL (conversation_id) DEFERRABLE;

ALTER TABLE ONLY public.notifications
    ADD CONSTRAINT notifications_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.outbound_parts
    ADD CONSTRAINT outbound_parts_tenant_id_outbound_id_fkey FOREIGN KEY (tenant_id, outbound_id) REFERENCES public.outbound(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.outbound
    ADD CONSTRAINT outbound_tenant_id_conversation_id_fkey FOREIGN KEY (tenant_id, conversation_id) REFERENCES public.conversations(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.outbound
    ADD CONSTRAINT outbound_tenant_id_turn_id_fkey FOREIGN KEY (tenant_id, turn_id) REFERENCES public.turns(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.person_audit
    ADD CONSTRAINT person_audit_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.pool_entries
    ADD CONSTRAINT pool_entries_tenant_id_conversation_id_fkey FOREIGN KEY (tenant_id, conversation_id) REFERENCES public.conversations(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.pool_entries
    ADD CONSTRAINT pool_entries_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.pool_entries
    ADD CONSTRAINT pool_entries_tenant_id_turn_id_fkey FOREIGN KEY (tenant_id, turn_id) REFERENCES public.turns(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.profile_facts
    ADD CONSTRAINT profile_facts_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.profile_jobs
    ADD CONSTRAINT profile_jobs_tenant_id_turn_id_fkey FOREIGN KEY (tenant_id, turn_id) REFERENCES public.turns(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.prompts
    ADD CONSTRAINT prompts_tenant_id_turn_id_fkey FOREIGN KEY (tenant_id, turn_id) REFERENCES public.turns(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.question_cards
    ADD CONSTRAINT question_cards_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.question_cards
    ADD CONSTRAINT question_cards_tenant_id_outbound_id_fkey FOREIGN KEY (tenant_id, outbound_id) REFERENCES public.outbound(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.question_cards
    ADD CONSTRAINT question_cards_tenant_id_question_id_fkey FOREIGN KEY (tenant_id, question_id) REFERENCES public.questions(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.questions
    ADD CONSTRAINT questions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.questions
    ADD CONSTRAINT questions_tenant_id_turn_id_fkey FOREIGN KEY (tenant_id, turn_id) REFERENCES public.turns(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.recipients
    ADD CONSTRAINT recipients_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.redraws
    ADD CONSTRAINT redraws_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.redraws
    ADD CONSTRAINT redraws_tenant_id_outbound_id_fkey FOREIGN KEY (tenant_id, outbound_id) REFERENCES public.outbound(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.reservations
    ADD CONSTRAINT reservations_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.run_notices
    ADD CONSTRAINT run_notices_tenant_id_run_id_fkey FOREIGN KEY (tenant_id, run_id) REFERENCES public.task_runs(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.segment_days
    ADD CONSTRAINT segment_days_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.spending
    ADD CONSTRAINT spending_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.standing_consents
    ADD CONSTRAINT standing_consents_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.steps
    ADD CONSTRAINT steps_tenant_id_turn_id_fkey FOREIGN KEY (tenant_id, turn_id) REFERENCES public.turns(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.stored_collections
    ADD CONSTRAINT stored_collections_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.stored_values
    ADD CONSTRAINT stored_values_tenant_id_collection_fkey FOREIGN KEY (tenant_id, collection) REFERENCES public.stored_collections(tenant_id, name) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.task_runs
    ADD CONSTRAINT task_runs_tenant_id_conversation_id_fkey FOREIGN KEY (tenant_id, conversation_id) REFERENCES public.conversations(tenant_id, id) ON DELETE SET NULL (conversation_id) DEFERRABLE;

ALTER TABLE ONLY public.task_runs
    ADD CONSTRAINT task_runs_tenant_id_task_id_fkey FOREIGN KEY (tenant_id, task_id) REFERENCES public.tasks(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.tasks
    ADD CONSTRAINT tasks_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.turns
    ADD CONSTRAINT turns_tenant_id_conversation_id_fkey FOREIGN KEY (tenant_id, conversation_id) REFERENCES public.conversations(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.turns
    ADD CONSTRAINT turns_tenant_id_lane_id_fkey FOREIGN KEY (tenant_id, lane_id) REFERENCES public.lanes(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.undo_records
    ADD CONSTRAINT undo_records_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.undo_records
    ADD CONSTRAINT undo_records_tenant_id_turn_id_fkey FOREIGN KEY (tenant_id, turn_id) REFERENCES public.turns(tenant_id, id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE ONLY public.usage_days
    ADD CONSTRAINT usage_days_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenants(tenant_id) ON DELETE CASCADE DEFERRABLE;

ALTER TABLE public.accepted_definitions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.account_prompts ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approval_audit ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approval_cards ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approval_codes ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.approvals ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.backups ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.channel_state ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.client_tokens ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.connect_links ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.consent_uses ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.consents ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.console_actions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.console_links ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.console_looks ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.console_sessions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.conversations ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.credentials ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.data_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.deletion_secret ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.deletions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.deliveries ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.directory ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.event_groups ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.event_sources ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.event_work ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.events ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.export_links ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.file_deletions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.files ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.guesses ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.history ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.identities ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.ignored_messages ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.inbound ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.inbound_files ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.inbox_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.lanes ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.link_codes ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.linked_rows ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.links ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.mail_watches ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.memories ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.memory_forgettings ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.memory_jobs ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.memory_members ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.memory_messages ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.memory_recalls ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.memory_sessions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.memory_terms ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.memory_vectors ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.memory_versions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.message_words ENABLE ROW LEVEL SECURITY;

CREATE POLICY nobodys ON public.accepted_definitions USING (true) WITH CHECK (true);

CREATE POLICY nobodys ON public.backups USING (true) WITH CHECK (true);

CREATE POLICY nobodys ON public.channel_state USING (true) WITH CHECK (true);

CREATE POLICY nobodys ON public.consents FOR INSERT WITH CHECK (true);

CREATE POLICY nobodys ON public.deletion_secret USING (true) WITH CHECK (true);

CREATE POLICY nobodys ON public.deletions USING (true) WITH CHECK (true);

CREATE POLICY nobodys ON public.event_groups FOR SELECT USING (true);

CREATE POLICY nobodys ON public.file_deletions USING (true) WITH CHECK (true);

CREATE POLICY nobodys ON public.guesses USING (true) WITH CHECK (true);

CREATE POLICY nobodys ON public.ignored_messages USING (true) WITH CHECK (true);

CREATE POLICY nobodys ON public.own_partition USING (true) WITH CHECK (true);

CREATE POLICY nobodys ON public.pairings USING (true) WITH CHECK (true);

CREATE POLICY nobodys ON public.retention_marks USING (true) WITH CHECK (true);

CREATE POLICY nobodys ON public.schema_ability_migrations FOR SELECT USING (true);

CREATE POLICY nobodys ON public.schema_functions FOR SELECT USING (true);

CREATE POLICY nobodys ON public.schema_migrations FOR SELECT USING (true);

CREATE POLICY nobodys ON public.segments_of_all USING (true) WITH CHECK (true);

CREATE POLICY nobodys ON public.usage_totals USING (true) WITH CHECK (true);

CREATE POLICY nobodys ON public.waiting_counts USING (true) WITH CHECK (true);

CREATE POLICY nobodys ON public.worker_health USING (true) WITH CHECK (true);

ALTER TABLE public.notifications ENABLE ROW LEVEL SECURITY;

CREATE POLICY one_tenant ON public.account_prompts TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.approval_audit TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.approval_cards TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.approval_codes TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.approvals TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.client_tokens TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.connect_links TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.consent_uses TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.console_actions TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.console_links TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.console_looks TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.console_sessions TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.conversations TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.credentials TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.data_keys TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.deliveries TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.event_sources TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.event_work TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.events TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.export_links TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.files TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.history TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.identities TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.inbound TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.inbound_files TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.inbox_keys TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.lanes TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.link_codes TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.linked_rows TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.links TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.mail_watches TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.memories TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.memory_forgettings TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.memory_jobs TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.memory_members TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.memory_messages TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.memory_recalls TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.memory_sessions TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.memory_terms TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.memory_vectors TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.memory_versions TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.message_words TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.notifications TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.outbound TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.outbound_parts TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.person_audit TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.pool_entries TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.profile_facts TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.profile_jobs TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.prompts TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.question_cards TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.questions TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.recipients TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.redraws TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.reservations TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.run_notices TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.segment_days TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.spending TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.standing_consents TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.steps TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.stored_collections TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.stored_values TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.task_runs TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.tasks TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.tenants TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.turns TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.undo_records TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

CREATE POLICY one_tenant ON public.usage_days TO onevalet_app USING ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text))) WITH CHECK ((tenant_id = NULLIF(current_setting('onevalet.tenant'::text, true), ''::text)));

ALTER TABLE public.outbound ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.outbound_parts ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.own_partition ENABLE ROW LEVEL SECURITY;

CREATE POLICY owner ON public.account_prompts TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.approval_audit TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.approval_cards TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.approval_codes TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.approvals TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.client_tokens TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.connect_links TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.consent_uses TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.consents TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.console_actions TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.console_links TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.console_looks TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.console_sessions TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.conversations TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.credentials TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.data_keys TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.deliveries TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.directory TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.event_groups TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.event_sources TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.event_work TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.events TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.export_links TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.files TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.history TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.identities TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.inbound TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.inbound_files TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.inbox_keys TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.lanes TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.link_codes TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.linked_rows TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.links TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.mail_watches TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.memories TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.memory_forgettings TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.memory_jobs TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.memory_members TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.memory_messages TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.memory_recalls TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.memory_sessions TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.memory_terms TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.memory_vectors TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.memory_versions TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.message_words TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.notifications TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.outbound TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.outbound_parts TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.person_audit TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.pool_entries TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.profile_facts TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.profile_jobs TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.prompts TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.question_cards TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.questions TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.recipients TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.redraws TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.reservations TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.run_notices TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.schema_ability_migrations TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.schema_functions TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.schema_migrations TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.segment_days TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.spending TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.standing_consents TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.steps TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.stored_collections TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.stored_values TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.task_runs TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.tasks TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.tenants TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.turns TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.undo_records TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.usage_days TO onevalet USING (true) WITH CHECK (true);

CREATE POLICY owner ON public.write_probe TO onevalet USING (true) WITH CHECK (true);

ALTER TABLE public.pairings ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.person_audit ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.pool_entries ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.profile_facts ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.profile_jobs ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.prompts ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.question_cards ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.questions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.recipients ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.redraws ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.reservations ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.retention_marks ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.run_notices ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.schema_ability_migrations ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.schema_functions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.schema_migrations ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.segment_days ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.segments_of_all ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.spending ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.standing_consents ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.steps ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.stored_collections ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.stored_values ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.task_runs ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.tasks ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.tenants ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.turns ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.undo_records ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.usage_days ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.usage_totals ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.waiting_counts ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.worker_health ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.write_probe ENABLE ROW LEVEL SECURITY;

GRANT USAGE ON SCHEMA public TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.links TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.steps TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.inbound TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.accepted_definitions TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.account_prompts TO onevalet_app;

GRANT SELECT,INSERT ON TABLE public.approval_audit TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.approval_cards TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.approval_codes TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.approvals TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.backups TO onevalet_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.channel_state TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.client_tokens TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.connect_links TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.consent_uses TO onevalet_app;

GRANT INSERT ON TABLE public.consents TO onevalet_app;

GRANT SELECT,INSERT ON TABLE public.console_actions TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.console_links TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.console_looks TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.console_sessions TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.conversations TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.credentials TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.data_keys TO onevalet_app;

GRANT SELECT ON TABLE public.deletion_secret TO onevalet_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.deletions TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.deliveries TO onevalet_app;

GRANT SELECT ON TABLE public.event_groups TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.event_sources TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.event_work TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.events TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.export_links TO onevalet_app;

GRANT SELECT,INSERT,DELETE ON TABLE public.file_deletions TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.files TO onevalet_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.guesses TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.history TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.identities TO onevalet_app;

GRANT SELECT,INSERT ON TABLE public.ignored_messages TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.inbound_files TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.inbox_keys TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.lanes TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.link_codes TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.linked_rows TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mail_watches TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.memories TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.memory_forgettings TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.memory_jobs TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.memory_members TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.memory_messages TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.memory_recalls TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.memory_sessions TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.memory_terms TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.memory_vectors TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.memory_versions TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.message_words TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.notifications TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.outbound TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.outbound_parts TO onevalet_app;

GRANT SELECT ON TABLE public.own_partition TO onevalet_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.pairings TO onevalet_app;

GRANT SELECT,INSERT ON TABLE public.person_audit TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.pool_entries TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.profile_facts TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.profile_jobs TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.prompts TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.question_cards TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.questions TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.recipients TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.redraws TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.reservations TO onevalet_app;

GRANT SELECT ON TABLE public.retention_marks TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.run_notices TO onevalet_app;

GRANT SELECT ON TABLE public.schema_ability_migrations TO onevalet_app;

GRANT SELECT ON TABLE public.schema_functions TO onevalet_app;

GRANT SELECT ON TABLE public.schema_migrations TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.segment_days TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.segments_of_all TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.spending TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.standing_consents TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.stored_collections TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.stored_values TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.task_runs TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tasks TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tenants TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.turns TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.undo_records TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.usage_days TO onevalet_app;

GRANT SELECT ON TABLE public.usage_totals TO onevalet_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.waiting_counts TO onevalet_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.worker_health TO onevalet_app;

ALTER DEFAULT PRIVILEGES FOR ROLE onevalet REVOKE ALL ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES FOR ROLE onevalet GRANT ALL ON FUNCTIONS TO onevalet_app;
