// The erasure of users from the inventory, the history of runs, saved plans, and the states of sources.
import { sql } from 'kysely'
import type { Json } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { integer, json, optional, query, type RowOf, row, text, textOf } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'
import {
  buildReferenceCondition,
  ERASED,
  type ErasedUsers,
  eraseReferences,
  type UserReference,
} from '../journal/erasure.ts'
import type { PlanAuthor } from './plans.ts'

const declarationRow = row({
  source: text,
  kind: textOf<KindName>(),
  key: json<Key>(),
  file: text,
  line: integer,
  lines: optional(json<Readonly<Record<string, number>>>()),
})

/** A declaration of a user, or of an object that refers to one. */
export type UserDeclaration = RowOf<typeof declarationRow>

/** Returns what sources declare about the users. One statement. */
export async function selectUserDeclarations(
  tx: Transaction,
  realm: number,
  { users: { ids, names }, references }: { readonly users: ErasedUsers; readonly references: readonly UserReference[] },
): Promise<UserDeclaration[]> {
  const conditions = references.map(
    (reference) => sql`j.kind = ${reference.kind} and ${buildReferenceCondition(reference, names)}`,
  )
  return query(declarationRow)`
    select s.name as source, j.kind, j.key, j.file, j.line, j.lines
    from inventory j join source s on s.number = j.source
    where j.realm = ${realm} and j.declared_digest is distinct from '' and (
      j.kind = 'user' and (j.object = any(${ids}::text[]) or lower(j.key ->> 0) = any(${names}::text[]))
      or ${sql.join(conditions, sql` or `)})
    order by s.name, j.file, j.line`.all(tx)
}

/** Deletes the users from the inventory, and erases references of objects that are not declared any more. A few statements. */
export async function eraseFromInventory(
  tx: Transaction,
  realm: number,
  { users, references }: { readonly users: ErasedUsers; readonly references: readonly UserReference[] },
): Promise<void> {
  await sql`
    delete from inventory i where i.realm = ${realm} and i.kind = 'user' and i.object = any(${users.ids}::text[])`.execute(
    tx,
  )
  for (const reference of references) await eraseReferences(tx, realm, { table: 'inventory', users, reference })
}

/** Erases the users from the plans of applied runs, which nothing reads, from notified drift, suspensions and editors. Four statements. */
export async function eraseFromRuns(
  tx: Transaction,
  realm: number,
  { realm: { isMaster }, names, pattern }: ErasedUsers,
): Promise<void> {
  await sql`
    update history h set plan = '{}' where h.realm = ${realm} and h.plan::text ~* ${pattern}`.execute(tx)
  await sql`
    update drift_notification n set drift = (
      select coalesce(jsonb_agg(d.drift), '[]') from jsonb_array_elements(n.drift) d(drift) where d.drift::text !~* ${pattern})
    where n.realm = ${realm}`.execute(tx)
  await sql`
    /* all realms */ update source_realm sr set suspended = sr.suspended || jsonb_build_object('by', ${ERASED}::text)
    where lower(sr.suspended ->> 'by') = any(${names}::text[]) and (sr.realm = ${realm} or ${isMaster})`.execute(tx)
  await sql`delete from source_editor e where lower(e.editor) = any(${names}::text[])`.execute(tx)
}

const planRow = row({
  id: text,
  outcome: json<Json>(),
  sealedSources: optional(text),
  createdBy: json<Json>(),
  authors: optional(json<readonly PlanAuthor[]>()),
  annotatedBy: optional(text),
  approvedBy: optional(text),
  /** The guards of each realm of the plan, by its name. */
  guards: json<Readonly<Record<string, Json>>>(),
})

/** The parts of a saved plan that can contain values of users. */
export type ErasablePlan = RowOf<typeof planRow>

/** Returns the saved plans for the realm that mention the users, and those with documents, which may. One statement. */
export async function selectErasablePlans(
  tx: Transaction,
  { realm, ids, pattern }: ErasedUsers,
): Promise<ErasablePlan[]> {
  return query(planRow)`
    select p.id, p.outcome, p.sealed_sources as "sealedSources", p.created_by as "createdBy", p.authors,
      p.annotated_by as "annotatedBy", p.approved_by as "approvedBy",
      coalesce((select jsonb_object_agg(r.name, r.guards) from plan_realm r where r.plan = p.id), '{}') as guards
    from plan p
    where (${realm.isMaster} or exists (select from plan_realm r where r.plan = p.id and r.name = ${realm.name}))
      and (p.sealed_sources is not null or p.outcome::text ~* ${pattern} or p.created_by ->> 'userId' = any(${ids}::text[])
        or p.approved_by ~* ${pattern} or p.annotated_by ~* ${pattern} or p.authors::text ~* ${pattern})
    for update`.all(tx)
}

/** Replaces the parts of saved plans. Two statements. */
export async function updateErasedPlans(
  tx: Transaction,
  plans: readonly Omit<ErasablePlan, 'sealedSources'>[],
): Promise<void> {
  const rows = JSON.stringify(plans)
  await sql`
    update plan p set outcome = x.outcome, created_by = x."createdBy", approved_by = x."approvedBy",
      authors = x.authors, annotated_by = x."annotatedBy"
    from jsonb_to_recordset(${rows}::jsonb) as x(id text, outcome jsonb, "createdBy" jsonb, "approvedBy" text, authors jsonb, "annotatedBy" text)
    where p.id = x.id`.execute(tx)
  await sql`
    update plan_realm r set guards = x.guards -> r.name
    from jsonb_to_recordset(${rows}::jsonb) as x(id text, guards jsonb)
    where r.plan = x.id`.execute(tx)
}

/** Deletes saved plans. One statement. */
export async function deleteErasedPlans(tx: Transaction, ids: readonly string[]): Promise<void> {
  await sql`delete from plan p where p.id = any(${ids}::text[])`.execute(tx)
}

const sourceStateRow = row({ number: integer, status: json<Json>(), suspended: optional(json<Json>()) })

/** The state of a source that mentions a user. */
export type ErasableSourceState = RowOf<typeof sourceStateRow>

/** Returns the states that mention the users, of sources that were applied to their realm or to none. One statement. */
export async function selectErasableSourceStates(
  tx: Transaction,
  { realm, pattern }: ErasedUsers,
): Promise<ErasableSourceState[]> {
  return query(sourceStateRow)`
    select s.number, s.status, s.suspended from source s
    where (s.status::text ~* ${pattern} or s.suspended::text ~* ${pattern})
      and (${realm.isMaster} or exists (select from source_realm o where o.realm = ${realm.number} and o.source = s.number)
        or not exists (/* all realms */ select from source_realm o where o.source = s.number))
    for update`.all(tx)
}

/** Replaces the states of sources. One statement. */
export async function updateErasedSourceStates(tx: Transaction, states: readonly ErasableSourceState[]): Promise<void> {
  await sql`
    update source s set status = x.status, suspended = x.suspended
    from jsonb_to_recordset(${JSON.stringify(states)}::jsonb) as x(number integer, status jsonb, suspended jsonb)
    where s.number = x.number`.execute(tx)
}
