/** The users who made the changes of plans, and those who have edited resources of a cluster. */
export const authorsOfPlans = [
  `alter table plan add column authors jsonb, add column annotated_by text`,
  `create table source_editor (
    source text collate "C" not null,
    editor text not null,
    at timestamptz not null,
    primary key (source, editor)
  )`,
]
