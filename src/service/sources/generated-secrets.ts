// Secrets that Regent generates for sources: documents refer to them by name.
import { randomBytes } from 'node:crypto'
import {
  insertSecretSeeds,
  replaceSecretSeed,
  selectSecretSeeds,
  selectSecretSeedsOfRealm,
} from '../../store/sources/generated-secrets.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import type { Service } from '../context/service.ts'
import type { Vault } from '../context/vault.ts'
import { requirePermissions } from '../permissions/require-permissions.ts'

/** Returns the generated secret with a name, for a source and the name of a realm in its documents. It is the same until it is rotated. */
export type GetGeneratedSecret = (source: string, realm: string, name: string) => string

/** A generated secret that documents of a source use. */
export interface GeneratedSecret {
  readonly source: string
  readonly name: string
  readonly createdAt: Date
}

/**
 * Returns the lookup of the generated secrets of sources. `currentNames`: the current names of renamed realms. Secrets are derived from
 * the key of the store, so that a plan shows the digest that the apply will have. One statement, or none without sources.
 */
export async function loadGeneratedSecrets(
  service: Service,
  sources: readonly string[],
  currentNames: ReadonlyMap<string, string>,
): Promise<GetGeneratedSecret> {
  const rows = sources.length ? await service.query((tx) => selectSecretSeeds(tx, sources)) : []
  const seeds = new Map(rows.map(({ realm, source, name, seed }) => [JSON.stringify([source, realm, name]), seed]))
  return (source, realm, name) => {
    const seed = seeds.get(JSON.stringify([source, currentNames.get(realm) ?? realm, name]))
    return deriveSecret(service.vault, seed ?? getFirstSeed(source, realm), name)
  }
}

/** Records the generated secrets that a source uses in its first apply to a realm. One statement. */
export async function recordGeneratedSecrets(
  { tx, realm, now }: WriteContext,
  source: { readonly number: number; readonly name: string },
  { declaredRealm, names }: { readonly declaredRealm: string; readonly names: readonly string[] },
): Promise<void> {
  const seed = getFirstSeed(source.name, declaredRealm)
  await insertSecretSeeds(tx, realm.number, { source: source.number, names, seed, at: now })
}

/** Returns a seed that sources can predict: only those that may declare the realm can see its secrets before the first apply. */
function getFirstSeed(source: string, realm: string): string {
  return JSON.stringify([source, realm])
}

function deriveSecret(vault: Vault, seed: string, name: string): string {
  return vault.derive(JSON.stringify(['generated secret', seed, name]))
}

/** Returns the generated secrets of a realm. Throws forbidden. One statement. */
export async function listGeneratedSecrets(context: Context): Promise<GeneratedSecret[]> {
  requirePermissions(context, 'administer-realm')
  const seeds = await selectSecretSeedsOfRealm(context.tx, context.realm.number)
  return seeds.map(({ seed: _, ...secret }) => secret)
}

/** Returns a secret in plain text. Throws forbidden or not_found. One statement. */
export async function getGeneratedSecret(context: Context, source: string, name: string): Promise<string> {
  requirePermissions(context, 'administer-realm')
  const seeds = await selectSecretSeedsOfRealm(context.tx, context.realm.number)
  const secret = seeds.find((row) => row.source === source && row.name === name)
  if (!secret) throw secretNotFound(context, source, name)
  return deriveSecret(context.vault, secret.seed, name)
}

/** Regenerates a secret, for the next apply of the source. Throws forbidden or not_found. One statement. */
export async function rotateGeneratedSecret(context: WriteContext, source: string, name: string): Promise<void> {
  requirePermissions(context, 'administer-realm')
  const seed = randomBytes(32).toString('base64url')
  if (!(await replaceSecretSeed(context.tx, context.realm.number, { source, name, seed, at: context.now })))
    throw secretNotFound(context, source, name)
}

function secretNotFound({ realm }: Context, source: string, name: string): Error {
  return failure(
    'not_found',
    `No secret ${name} was generated for the source ${source} in the realm ${realm.name}. ` +
      `"regent secret list ${realm.name}" lists the secrets.`,
  )
}
