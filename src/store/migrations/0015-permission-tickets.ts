/** Requests of users for access to resources of other users. The owner is that of the resource. */
export const permissionTickets = [
  `create table permission_ticket (
    realm integer not null references realm (number) on delete cascade,
    id text collate "C" not null,
    client text collate "C" not null,
    resource text collate "C" not null,
    scope text collate "C",
    requester text collate "C" not null,
    created_at timestamptz not null,
    granted_at timestamptz,
    primary key (realm, id),
    constraint permission_ticket_request unique nulls not distinct (realm, resource, scope, requester),
    foreign key (realm, client) references client (realm, id) on delete cascade,
    foreign key (realm, resource) references authorization_resource (realm, id) on delete cascade,
    foreign key (realm, scope) references authorization_scope (realm, id) on delete cascade,
    foreign key (realm, requester) references user_account (realm, id) on delete cascade
  )`,
  `create index permission_ticket_client on permission_ticket (realm, client)`,
  `create index permission_ticket_scope on permission_ticket (realm, scope)`,
  `create index permission_ticket_requester on permission_ticket (realm, requester)`,
]
