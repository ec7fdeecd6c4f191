CREATE TABLE public.kysely_migration (
    name character varying(255) NOT NULL,
    "timestamp" character varying(255) NOT NULL
);
CREATE TABLE public.kysely_migration_lock (
    id character varying(255) NOT NULL,
    is_locked integer DEFAULT 0 NOT NULL
);
CREATE TABLE public.store_setting (
    name text NOT NULL,
    value text NOT NULL
);
INSERT INTO public.kysely_migration VALUES ('0001-realms', '2026-11-23T14:20:34.772Z');
INSERT INTO public.kysely_migration VALUES ('0002-client-scopes', '2026-11-23T14:20:34.785Z');
INSERT INTO public.kysely_migration VALUES ('0003-clients', '2026-11-23T14:20:34.793Z');
INSERT INTO public.kysely_migration VALUES ('0004-authentication-flows', '2026-11-23T14:20:34.807Z');
INSERT INTO public.kysely_migration VALUES ('0005-users', '2026-11-23T14:20:34.812Z');
INSERT INTO public.kysely_migration VALUES ('0006-reconcile', '2026-11-23T14:20:34.822Z');
INSERT INTO public.kysely_migration VALUES ('0007-roles', '2026-11-23T14:20:34.828Z');
INSERT INTO public.kysely_migration VALUES ('0008-role-mappings', '2026-11-23T14:20:34.832Z');
INSERT INTO public.kysely_migration VALUES ('0009-settings', '2026-11-23T14:20:34.834Z');
INSERT INTO public.kysely_migration VALUES ('0010-identity-providers', '2026-11-23T14:20:34.841Z');
INSERT INTO public.kysely_migration VALUES ('0011-groups', '2026-11-23T14:20:34.863Z');
INSERT INTO public.kysely_migration VALUES ('0011-required-actions', '2026-11-23T14:20:34.866Z');
INSERT INTO public.kysely_migration VALUES ('0012-admin-events', '2026-11-23T14:20:34.869Z');
INSERT INTO public.kysely_migration VALUES ('0014-people-search', '2026-11-23T14:20:34.879Z');
INSERT INTO public.kysely_migration VALUES ('0015-components', '2026-11-23T14:20:34.882Z');
INSERT INTO public.kysely_migration VALUES ('0016-localization', '2026-11-23T14:20:34.885Z');
INSERT INTO public.kysely_migration VALUES ('0017-organizations', '2026-11-23T14:20:34.897Z');
INSERT INTO public.kysely_migration VALUES ('0018-workflows', '2026-11-23T14:20:34.899Z');
INSERT INTO public.kysely_migration VALUES ('0019-authorization', '2026-11-23T14:20:34.926Z');
INSERT INTO public.kysely_migration VALUES ('0020-sessions', '2026-11-23T14:20:34.932Z');
INSERT INTO public.kysely_migration VALUES ('0021-user-events', '2026-11-23T14:20:34.936Z');
INSERT INTO public.kysely_migration VALUES ('0022-login-failures', '2026-11-23T14:20:34.938Z');
INSERT INTO public.kysely_migration VALUES ('0023-realm-keys', '2026-11-23T14:20:34.939Z');
INSERT INTO public.kysely_migration VALUES ('0024-authentication-sessions', '2026-11-23T14:20:34.941Z');
INSERT INTO public.kysely_migration VALUES ('0025-outbox', '2026-11-23T14:20:34.943Z');
INSERT INTO public.kysely_migration VALUES ('0026-stated', '2026-11-23T14:20:34.944Z');
INSERT INTO public.kysely_migration VALUES ('0032-history-of-sources', '2026-11-23T14:20:34.946Z');
INSERT INTO public.kysely_migration VALUES ('0033-drift-left-alone', '2026-11-23T14:20:34.948Z');
INSERT INTO public.kysely_migration VALUES ('0034-history-by-revision', '2026-11-23T14:20:34.949Z');
INSERT INTO public.kysely_migration VALUES ('0036-pages-of-people', '2026-11-23T14:20:34.950Z');
INSERT INTO public.kysely_migration VALUES ('0037-settings-of-sources', '2026-11-23T14:20:34.951Z');
INSERT INTO public.kysely_migration VALUES ('0038-generated-secrets', '2026-11-23T14:20:34.953Z');
INSERT INTO public.kysely_migration VALUES ('0039-drift-adopted', '2026-11-23T14:20:34.954Z');
INSERT INTO public.kysely_migration VALUES ('0040-drift-told', '2026-11-23T14:20:34.955Z');
INSERT INTO public.kysely_migration VALUES ('0041-leases', '2026-11-23T14:20:34.956Z');
INSERT INTO public.kysely_migration VALUES ('0042-plans', '2026-11-23T14:20:34.962Z');
INSERT INTO public.kysely_migration VALUES ('0043-lists-of-sources', '2026-11-23T14:20:34.963Z');
INSERT INTO public.kysely_migration VALUES ('0044-states-of-sources', '2026-11-23T14:20:34.964Z');
INSERT INTO public.kysely_migration VALUES ('0045-editors-of-clients', '2026-11-23T14:20:34.965Z');
INSERT INTO public.kysely_migration VALUES ('0047-names-in-one-case', '2026-11-23T14:20:34.969Z');
INSERT INTO public.kysely_migration_lock VALUES ('migration_lock', 0);
ALTER TABLE ONLY public.kysely_migration_lock
    ADD CONSTRAINT kysely_migration_lock_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.kysely_migration
    ADD CONSTRAINT kysely_migration_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.store_setting
    ADD CONSTRAINT store_setting_pkey PRIMARY KEY (name);
