// What the secrets that are made for sources are derived from.
import { sql } from 'kysely'
import type { Transaction } from './database.ts'

/** A secret that was made for a source. */
export interface Seed {
  readonly source: string
  /** What documents call it. */
  readonly name: string
  readonly seed: string
  readonly madeAt: Date
}

/** The secrets that were made for sources, in order. One statement. */
export async function selectSeeds(tx: Transaction, sources: readonly string[]): Promise<Seed[]> {
  const { rows } = await sql<Seed>`
    select s.name as source, g.name, g.seed, g.made_at as "madeAt"
    from generated_secret g join source s on s.number = g.source
    where s.name = any(${sources}::text[])
    order by s.name, g.name`.execute(tx)
  return rows
}

/** Keeps the seed of secrets of a source that have none. One statement. */
export async function insertSeeds(
  tx: Transaction,
  source: number,
  names: readonly string[],
  seed: string,
  at: Date,
): Promise<void> {
  await sql`
    insert into generated_secret (source, name, seed, made_at)
    select ${source}::integer, x.name, ${seed}, ${at}::timestamptz from unnest(${names}::text[]) x(name)
    on conflict do nothing`.execute(tx)
}

/** Gives a secret of a source another seed, and the source something to do in its realms. Gives whether there is such a secret. One statement. */
export async function replaceSeed(
  tx: Transaction,
  source: string,
  name: string,
  seed: string,
  at: Date,
): Promise<boolean> {
  const { rows } = await sql`
    with other as (
      update generated_secret g set seed = ${seed}, made_at = ${at}::timestamptz from source s
      where s.number = g.source and s.name = ${source} and g.name = ${name} returning g.source
    ),
    due as (
      update source_realm sr set digest = '' from other o join realm r on true
      where sr.source = o.source and sr.realm = r.number
    )
    select source from other`.execute(tx)
  return rows.length > 0
}
