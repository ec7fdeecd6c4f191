/** Invitations to organizations. They exist until they are accepted or deleted, also after their expiration. */
export const organizationInvitations = [
  `create table organization_invitation (
    realm integer not null references realm (number) on delete cascade,
    id text collate "C" not null,
    organization text collate "C" not null,
    email text collate "C" not null,
    first_name text,
    first_name_folded text collate "C",
    last_name text,
    last_name_folded text collate "C",
    sent_at timestamptz not null,
    expires_at timestamptz not null,
    primary key (realm, id),
    unique (realm, organization, email),
    foreign key (realm, organization) references organization (realm, id) on delete cascade
  )`,
]
