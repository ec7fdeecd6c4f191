/** The users who made the changes of plans, those who have edited resources of a cluster, and deleted resources whose objects still exist. */
export const authorsOfPlans = [
  `alter table plan add column authors jsonb, add column annotated_by text`,
  `create table source_editor (
    source text collate "C" not null,
    editor text not null,
    at timestamptz not null,
    primary key (source, editor)
  )`,
  `create table deleted_resource (
    realm integer not null references realm (number) on delete cascade,
    source integer not null references source (number) on delete cascade,
    file text collate "C" not null,
    released boolean not null,
    primary key (realm, source, file)
  )`,
]
