/** Periodic work on objects of realms. `claims` counts how often a process has claimed it, and fences earlier claims off. */
export const scheduledTasks = [
  `create table scheduled_task (
    realm integer not null references realm (number) on delete cascade,
    type text collate "C" not null,
    subject text collate "C" not null,
    interval_seconds integer not null,
    due timestamptz not null,
    claims bigint not null,
    claimed_until timestamptz,
    primary key (realm, type, subject)
  )`,
  `create index scheduled_task_due on scheduled_task (due)`,
]
