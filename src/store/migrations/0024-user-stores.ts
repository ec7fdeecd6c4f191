/** The last and the scheduled synchronizations of LDAP user stores, and an index of the users that were imported from them. */
export const userStores = [
  `create table user_store_sync (
    realm integer not null references realm (number) on delete cascade,
    component text collate "C" not null,
    full_at timestamptz,
    changed_at timestamptz,
    primary key (realm, component),
    foreign key (realm, component) references component (realm, id) on delete cascade
  )`,
  `create index user_account_federation on user_account
    (realm, (body ->> 'federationLink'), (body -> 'attributes' -> 'LDAP_ID' ->> 0)) where body ->> 'federationLink' is not null`,
  `insert into scheduled_task (realm, type, subject, interval_seconds, due, claims)
    select c.realm, x.type, c.id, x.period, now() + x.period * interval '1 second', 0
    from component c cross join lateral (
      select t.type, (c.body -> 'config' -> t.setting ->> 0)::integer as period
      from (values ('user-store-full-sync', 'fullSyncPeriod'), ('user-store-changed-sync', 'changedSyncPeriod')) as t (type, setting)
      where c.body -> 'config' -> t.setting ->> 0 ~ '^[1-9][0-9]{0,8}$'
    ) x
    where c.body ->> 'providerId' = 'ldap' and coalesce(c.body -> 'config' -> 'enabled' ->> 0, 'true') = 'true'
      and coalesce(c.body -> 'config' -> 'importEnabled' ->> 0, 'true') = 'true'`,
]
