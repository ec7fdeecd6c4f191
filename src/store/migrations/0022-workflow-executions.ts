/**
 * Executions of workflows for users and clients: the step to be executed next, and when. `is_resumed`: the step was scheduled with a delay, so that
 * the condition of the workflow is checked again.
 */
export const workflowExecutions = [
  `create table workflow_execution (
    realm integer not null references realm (number) on delete cascade,
    id text collate "C" not null,
    workflow text collate "C" not null,
    user_account text collate "C",
    client text collate "C",
    step integer not null,
    due timestamptz not null,
    is_resumed boolean not null,
    started_at timestamptz not null,
    attempts integer not null,
    error text,
    primary key (realm, id),
    constraint workflow_execution_user unique (realm, workflow, user_account),
    constraint workflow_execution_client unique (realm, workflow, client),
    check ((user_account is null) <> (client is null)),
    foreign key (realm, workflow) references workflow (realm, id) on delete cascade,
    foreign key (realm, user_account) references user_account (realm, id) on delete cascade,
    foreign key (realm, client) references client (realm, id) on delete cascade
  )`,
  `create index workflow_execution_due on workflow_execution (due)`,
  `create index workflow_execution_user_account on workflow_execution (realm, user_account)`,
  `create index workflow_execution_of_client on workflow_execution (realm, client)`,
]
