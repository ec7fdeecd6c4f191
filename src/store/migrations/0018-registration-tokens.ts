/** Tokens of client registration. Expired and used-up initial access tokens are deleted. A client has one registration access token at most. */
export const registrationTokens = [
  `create table initial_access_token (
    realm integer not null references realm (number) on delete cascade,
    id text collate "C" not null,
    created_at timestamptz not null,
    lifespan integer not null,
    count integer not null,
    remaining integer not null,
    primary key (realm, id)
  )`,
  `create table registration_access_token (
    realm integer not null references realm (number) on delete cascade,
    client text collate "C" not null,
    id text collate "C" not null,
    primary key (realm, client),
    foreign key (realm, client) references client (realm, id) on delete cascade
  )`,
]
