// Seeds, from which the secrets that Regent generates for sources are derived.
import { sql } from 'kysely'
import { query, type RowOf, row, text, timestamp } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'

const realmSecretSeedRow = row({
  source: text,
  /** NAME of `$(generated:NAME)` in documents. */
  name: text,
  seed: text,
  createdAt: timestamp,
})

const secretSeedRow = row({ realm: text, ...realmSecretSeedRow.columns })

/** The seed of a generated secret of a source in a realm. */
export type SecretSeed = RowOf<typeof secretSeedRow>

/** Returns the seeds of sources, by realm, source and name. One statement. */
export async function selectSecretSeeds(tx: Transaction, sources: readonly string[]): Promise<SecretSeed[]> {
  return query(secretSeedRow)`
    select r.name as realm, s.name as source, g.name, g.seed, g.created_at as "createdAt"
    from realm r join generated_secret g on g.realm = r.number join source s on s.number = g.source
    where s.name = any(${sources}::text[])
    order by r.name, s.name, g.name`.all(tx)
}

/** Returns the seeds of a realm, by source and name. One statement. */
export async function selectSecretSeedsOfRealm(
  tx: Transaction,
  realm: number,
): Promise<RowOf<typeof realmSecretSeedRow>[]> {
  return query(realmSecretSeedRow)`
    select s.name as source, g.name, g.seed, g.created_at as "createdAt"
    from generated_secret g join source s on s.number = g.source
    where g.realm = ${realm}
    order by s.name, g.name`.all(tx)
}

/** The seed of new secrets of a source. */
export interface NewSecretSeeds {
  readonly source: number
  readonly names: readonly string[]
  readonly seed: string
  readonly at: Date
}

/** Inserts the seed of secrets of a source that have none in the realm. One statement. */
export async function insertSecretSeeds(
  tx: Transaction,
  realm: number,
  { source, names, seed, at }: NewSecretSeeds,
): Promise<void> {
  await sql`
    insert into generated_secret (realm, source, name, seed, created_at)
    select ${realm}::integer, ${source}::integer, x.name, ${seed}, ${at}::timestamptz from unnest(${names}::text[]) x(name)
    on conflict do nothing`.execute(tx)
}

/** A new seed for a generated secret, which rotates the secret. */
export interface SecretSeedReplacement {
  readonly source: string
  readonly name: string
  readonly seed: string
  readonly at: Date
}

/** Replaces the seed of a secret, and makes the next run of its source apply the realm. Returns false if there is no such secret. One statement. */
export async function replaceSecretSeed(
  tx: Transaction,
  realm: number,
  { source, name, seed, at }: SecretSeedReplacement,
): Promise<boolean> {
  const { rows } = await sql`
    with replaced as (
      update generated_secret g set seed = ${seed}, created_at = ${at}::timestamptz from source s
      where g.realm = ${realm} and s.number = g.source and s.name = ${source} and g.name = ${name} returning g.source
    ),
    due as (
      update source_realm sr set digest = '' from replaced o where sr.realm = ${realm} and sr.source = o.source
    )
    select source from replaced`.execute(tx)
  return rows.length > 0
}
