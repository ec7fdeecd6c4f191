// What the secrets that are made for sources are derived from.
import { sql } from 'kysely'
import { type RowOf, row, rows, text, timestamp } from '../database/row.ts'
import type { Transaction } from '../database/transaction.ts'

const seedOfRealmRow = row({
  source: text,
  /** What documents call it. */
  name: text,
  seed: text,
  madeAt: timestamp,
})

const seedRow = row({ realm: text, ...seedOfRealmRow.columns })

/** A secret that was made for what a source states of a realm. */
export type Seed = RowOf<typeof seedRow>

/** The secrets that were made for sources, in order. One statement. */
export async function selectSeeds(tx: Transaction, sources: readonly string[]): Promise<Seed[]> {
  return rows(seedRow)`
    select r.name as realm, s.name as source, g.name, g.seed, g.made_at as "madeAt"
    from realm r join generated_secret g on g.realm = r.number join source s on s.number = g.source
    where s.name = any(${sources}::text[])
    order by r.name, s.name, g.name`.all(tx)
}

/** The secrets that were made for sources of a realm, in order. One statement. */
export async function selectSeedsOfRealm(tx: Transaction, realm: number): Promise<RowOf<typeof seedOfRealmRow>[]> {
  return rows(seedOfRealmRow)`
    select s.name as source, g.name, g.seed, g.made_at as "madeAt"
    from generated_secret g join source s on s.number = g.source
    where g.realm = ${realm}
    order by s.name, g.name`.all(tx)
}

/** Secrets of a source that are to have a seed. */
export interface NewSeeds {
  readonly source: number
  readonly names: readonly string[]
  readonly seed: string
  readonly at: Date
}

/** Keeps the seed of secrets of a source that have none in the realm. One statement. */
export async function insertSeeds(
  tx: Transaction,
  realm: number,
  { source, names, seed, at }: NewSeeds,
): Promise<void> {
  await sql`
    insert into generated_secret (realm, source, name, seed, made_at)
    select ${realm}::integer, ${source}::integer, x.name, ${seed}, ${at}::timestamptz from unnest(${names}::text[]) x(name)
    on conflict do nothing`.execute(tx)
}

/** A new seed for a generated secret, which rotates the secret. */
export interface SeedReplacement {
  readonly source: string
  readonly name: string
  readonly seed: string
  readonly at: Date
}

/** Gives a secret another seed, and its source something to do in the realm. Gives whether there is such a secret. One statement. */
export async function replaceSeed(
  tx: Transaction,
  realm: number,
  { source, name, seed, at }: SeedReplacement,
): Promise<boolean> {
  const { rows } = await sql`
    with other as (
      update generated_secret g set seed = ${seed}, made_at = ${at}::timestamptz from source s
      where g.realm = ${realm} and s.number = g.source and s.name = ${source} and g.name = ${name} returning g.source
    ),
    due as (
      update source_realm sr set digest = '' from other o where sr.realm = ${realm} and sr.source = o.source
    )
    select source from other`.execute(tx)
  return rows.length > 0
}
