/** Authentication flows, their executions and the settings of these; who binds a flow. */
export const authenticationFlows = `
create table authenticator_config (
  realm integer not null references realm (number) on delete cascade,
  id text collate "C" not null,
  alias text collate "C" not null,
  version bigint not null,
  body jsonb not null,
  primary key (realm, id),
  constraint authenticator_config_alias unique (realm, alias) deferrable
);

create table authentication_flow (
  realm integer not null references realm (number) on delete cascade,
  id text collate "C" not null,
  alias text collate "C" not null,
  version bigint not null,
  body jsonb not null,
  primary key (realm, id),
  constraint authentication_flow_alias unique (realm, alias) deferrable
);

create table authentication_execution (
  realm integer not null references realm (number) on delete cascade,
  id text collate "C" not null,
  flow text collate "C" not null,
  place integer not null,
  authenticator text,
  sub_flow text collate "C",
  config text collate "C",
  body jsonb not null,
  primary key (realm, id),
  foreign key (realm, flow) references authentication_flow (realm, id) on delete cascade,
  foreign key (realm, sub_flow) references authentication_flow (realm, id) on delete cascade,
  foreign key (realm, config) references authenticator_config (realm, id) on delete set null (config)
);

create index authentication_execution_flow on authentication_execution (realm, flow);
create index authentication_execution_sub_flow on authentication_execution (realm, sub_flow);
create index authentication_execution_config on authentication_execution (realm, config);

alter table realm
  add browser_flow text collate "C",
  add registration_flow text collate "C",
  add direct_grant_flow text collate "C",
  add reset_credentials_flow text collate "C",
  add client_authentication_flow text collate "C",
  add docker_authentication_flow text collate "C",
  add first_broker_login_flow text collate "C",
  add foreign key (number, browser_flow) references authentication_flow (realm, id) on delete set null (browser_flow),
  add foreign key (number, registration_flow) references authentication_flow (realm, id) on delete set null (registration_flow),
  add foreign key (number, direct_grant_flow) references authentication_flow (realm, id) on delete set null (direct_grant_flow),
  add foreign key (number, reset_credentials_flow) references authentication_flow (realm, id) on delete set null (reset_credentials_flow),
  add foreign key (number, client_authentication_flow) references authentication_flow (realm, id) on delete set null (client_authentication_flow),
  add foreign key (number, docker_authentication_flow) references authentication_flow (realm, id) on delete set null (docker_authentication_flow),
  add foreign key (number, first_broker_login_flow) references authentication_flow (realm, id) on delete set null (first_broker_login_flow);

alter table client
  add browser_flow text collate "C",
  add direct_grant_flow text collate "C",
  add foreign key (realm, browser_flow) references authentication_flow (realm, id) on delete set null (browser_flow),
  add foreign key (realm, direct_grant_flow) references authentication_flow (realm, id) on delete set null (direct_grant_flow);

create index client_browser_flow on client (realm, browser_flow);
create index client_direct_grant_flow on client (realm, direct_grant_flow);
`
