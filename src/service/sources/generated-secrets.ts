// Secrets that Regent makes for sources, and keeps: documents name them, and nobody has to think of them.
import { randomBytes } from 'node:crypto'
import { insertSecretSeeds, replaceSecretSeed, selectSecretSeeds, selectSecretSeedsOfRealm } from '../../store/sources/generated-secrets.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import type { Service } from '../context/service.ts'
import type { Vault } from '../context/vault.ts'
import { requirePermissions } from '../permissions/require-permissions.ts'

/** The secret of that name of what a source states of a realm: always the same, until it is replaced. */
export type GetGeneratedSecret = (source: string, realm: string, name: string) => string

/** A secret that documents of a source name. */
export interface GeneratedSecret {
  readonly source: string
  readonly name: string
  readonly createdAt: Date
}

/**
 * The secrets of sources, by realms as they are stated; `calledNow`: those that somebody renamed. They follow from the store's key,
 * so that a plan shows the digest that the apply will have, and nothing needs to be kept before. One statement, or none
 * without sources.
 */
export async function loadGeneratedSecrets(
  service: Service,
  sources: readonly string[],
  calledNow: ReadonlyMap<string, string>,
): Promise<GetGeneratedSecret> {
  const seeds = sources.length ? await service.query((tx) => selectSecretSeeds(tx, sources)) : []
  const known = new Map(seeds.map(({ realm, source, name, seed }) => [JSON.stringify([source, realm, name]), seed]))
  return (source, realm, name) => {
    const seed = known.get(JSON.stringify([source, calledNow.get(realm) ?? realm, name]))
    return secretOf(service.vault, seed ?? firstSeed(source, realm), name)
  }
}

/** Keeps that secrets of these names were made for a source, in its first apply to the realm. One statement. */
export async function recordGeneratedSecrets(
  { tx, realm, now }: WriteContext,
  source: { readonly number: number; readonly name: string },
  stated: string,
  names: readonly string[],
): Promise<void> {
  await insertSecretSeeds(tx, realm.number, { source: source.number, names, seed: firstSeed(source.name, stated), at: now })
}

/** Who may state a realm has all power in it: nobody else learns beforehand what will be secret there. */
function firstSeed(source: string, realm: string): string {
  return JSON.stringify([source, realm])
}

function secretOf(vault: Vault, seed: string, name: string): string {
  return vault.derive(JSON.stringify(['generated secret', seed, name]))
}

/** The secrets that were made in a realm. One statement. */
export async function listGeneratedSecrets(context: Context): Promise<GeneratedSecret[]> {
  requirePermissions(context, 'administer-realm')
  const seeds = await selectSecretSeedsOfRealm(context.tx, context.realm.number)
  return seeds.map(({ seed: _, ...secret }) => secret)
}

/** The text of a secret. Throws not_found. One statement. */
export async function getGeneratedSecret(context: Context, source: string, name: string): Promise<string> {
  requirePermissions(context, 'administer-realm')
  const seeds = await selectSecretSeedsOfRealm(context.tx, context.realm.number)
  const found = seeds.find((one) => one.source === source && one.name === name)
  if (!found) throw unknownSecret(context, source, name)
  return secretOf(context.vault, found.seed, name)
}

/** Makes a secret anew: it counts from the next apply of the source on. Throws not_found. One statement. */
export async function rotateGeneratedSecret(context: WriteContext, source: string, name: string): Promise<void> {
  requirePermissions(context, 'administer-realm')
  const seed = randomBytes(32).toString('base64url')
  if (!(await replaceSecretSeed(context.tx, context.realm.number, { source, name, seed, at: context.now })))
    throw unknownSecret(context, source, name)
}

function unknownSecret({ realm }: Context, source: string, name: string): Error {
  return failure(
    'not_found',
    `no secret ${name} was made for the source ${source} in the realm ${realm.name}: "regent secret list ${realm.name}" shows those that were`,
  )
}
