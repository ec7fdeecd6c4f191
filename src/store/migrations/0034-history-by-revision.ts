/**
 * History by revision: the number of the last journal entry when a run ended. A source may be held: what it states is planned,
 * and not applied. Where each field of an object is stated, in lines after that of the object.
 */
export const historyByRevision = `
alter table history add version bigint not null default 0;
create index history_version on history (realm, version);
alter table source_realm add held jsonb;
alter table inventory add lines jsonb;
`
