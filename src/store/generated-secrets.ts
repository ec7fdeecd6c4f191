// What the secrets that are made for sources are derived from.
import { sql } from 'kysely'
import type { Transaction } from './database.ts'

/** A secret that was made for what a source states of a realm. */
export interface Seed {
  readonly realm: string
  readonly source: string
  /** What documents call it. */
  readonly name: string
  readonly seed: string
  readonly madeAt: Date
}

/** The secrets that were made for sources, in order. One statement. */
export async function selectSeeds(tx: Transaction, sources: readonly string[]): Promise<Seed[]> {
  const { rows } = await sql<Seed>`
    select r.name as realm, s.name as source, g.name, g.seed, g.made_at as "madeAt"
    from realm r join generated_secret g on g.realm = r.number join source s on s.number = g.source
    where s.name = any(${sources}::text[])
    order by r.name, s.name, g.name`.execute(tx)
  return rows
}

/** The secrets that were made for sources of a realm, in order. One statement. */
export async function selectSeedsOfRealm(tx: Transaction, realm: number): Promise<Omit<Seed, 'realm'>[]> {
  const { rows } = await sql<Omit<Seed, 'realm'>>`
    select s.name as source, g.name, g.seed, g.made_at as "madeAt"
    from generated_secret g join source s on s.number = g.source
    where g.realm = ${realm}
    order by s.name, g.name`.execute(tx)
  return rows
}

/** Keeps the seed of secrets of a source that have none in the realm. One statement. */
export async function insertSeeds(
  tx: Transaction,
  realm: number,
  source: number,
  names: readonly string[],
  seed: string,
  at: Date,
): Promise<void> {
  await sql`
    insert into generated_secret (realm, source, name, seed, made_at)
    select ${realm}::integer, ${source}::integer, x.name, ${seed}, ${at}::timestamptz from unnest(${names}::text[]) x(name)
    on conflict do nothing`.execute(tx)
}

/** Gives a secret another seed, and its source something to do in the realm. Gives whether there is such a secret. One statement. */
export async function replaceSeed(
  tx: Transaction,
  realm: number,
  source: string,
  name: string,
  seed: string,
  at: Date,
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
