/** A line of history is of all sources that took part in a run. */
export const historyOfSources = `
alter table history add sources jsonb not null default '[]';
update history h set sources = jsonb_build_array(jsonb_build_object('name', s.name, 'revision', h.revision))
  from source s where s.number = h.source;
alter table history drop column source, drop column revision;
alter table history alter column sources drop default;
`
