/** The last synchronizations of LDAP user stores, and an index of the users that were imported from them. */
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
]
