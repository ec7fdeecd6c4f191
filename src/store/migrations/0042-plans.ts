/**
 * Plans that wait: for somebody who applies them, or for an approval. They may be about several realms, and about some that
 * are not there. What realms were called that are gone, and how many people they had.
 */
export const plans = `
create table plan (
  id text collate "C" primary key,
  digest text not null,
  sources jsonb not null,
  shown jsonb not null,
  kept text,
  runs boolean not null,
  made_at timestamptz not null,
  made_by jsonb not null,
  expires timestamptz not null,
  approved_at timestamptz,
  approved_by text,
  with_credentials boolean not null default false
);

create table plan_realm (
  plan text collate "C" not null references plan (id) on delete cascade,
  name text collate "C" not null,
  digest text not null,
  acts boolean not null,
  guards jsonb not null,
  applied_at timestamptz,
  revision bigint,
  primary key (plan, name)
);

create index plan_realm_digest on plan_realm (name, digest);

create table former_realm (
  number integer primary key,
  name text collate "C" not null,
  people integer,
  deleted_at timestamptz not null
);

create index former_realm_name on former_realm (name, deleted_at desc);

insert into former_realm (number, name, deleted_at)
  select distinct on (j.realm) j.realm, j.key ->> 0, j.at from journal j
  where j.kind = 'realm' and j.operation = 'delete' and not exists (select from realm r where r.number = j.realm)
  order by j.realm, j.number desc;
`
