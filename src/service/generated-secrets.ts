// Secrets that Regent makes for sources, and keeps: documents name them, and nobody has to think of them.
import { randomBytes } from 'node:crypto'
import { MASTER } from '../kinds/built-in/index.ts'
import { replaceSeed, selectSeeds } from '../store/generated-secrets.ts'
import { selectApplied } from '../store/sources.ts'
import { failure } from './errors.ts'
import { allows } from './power.ts'
import type { Caller, Service } from './service.ts'
import type { Vault } from './vault.ts'

/** The secret of that name of a source: always the same, until it is replaced. */
export type GeneratedSecret = (source: string, name: string) => string

/** A secret that documents of a source name. */
export interface NamedSecret {
  readonly source: string
  readonly name: string
  readonly madeAt: Date
}

/**
 * The secrets of sources. They follow from the store's key, so that a plan shows the digest that the apply will have, and
 * nothing needs to be kept before. One statement, or none without sources.
 */
export async function generatedSecrets(service: Service, sources: readonly string[]): Promise<GeneratedSecret> {
  const seeds = sources.length ? await service.look((tx) => selectSeeds(tx, sources)) : []
  const known = new Map(seeds.map(({ source, name, seed }) => [JSON.stringify([source, name]), seed]))
  return (source, name) => secretOf(service.vault, known.get(JSON.stringify([source, name])) ?? source, name)
}

function secretOf(vault: Vault, seed: string, name: string): string {
  return vault.derive(JSON.stringify(['generated secret', seed, name]))
}

/** The secrets that were made for a source. Throws not_found, forbidden. Two statements. */
export function listSecrets(service: Service, caller: Caller, source: string): Promise<NamedSecret[]> {
  return service.read(caller, MASTER, async ({ tx, power }) => {
    demandSource(source, await selectApplied(tx, [source]), (realm) => allows(power, realm, 'administer-realm'))
    return (await selectSeeds(tx, [source])).map(({ seed: _, ...secret }) => secret)
  })
}

/** The text of a secret. Throws not_found, forbidden. Two statements. */
export function getSecret(service: Service, caller: Caller, source: string, name: string): Promise<string> {
  return service.read(caller, MASTER, async ({ tx, vault, power }) => {
    demandSource(source, await selectApplied(tx, [source]), (realm) => allows(power, realm, 'administer-realm'))
    const found = (await selectSeeds(tx, [source])).find((one) => one.name === name)
    if (!found) throw unknownSecret(source, name)
    return secretOf(vault, found.seed, name)
  })
}

/** Makes a secret anew: it counts from the next apply of the source on. Throws not_found, forbidden. Two statements. */
export function rotateSecret(service: Service, caller: Caller, source: string, name: string): Promise<void> {
  return service.write(caller, MASTER, async ({ tx, now, power }) => {
    demandSource(source, await selectApplied(tx, [source]), (realm) => allows(power, realm, 'administer-realm'))
    if (!(await replaceSeed(tx, source, name, randomBytes(32).toString('base64url'), now)))
      throw unknownSecret(source, name)
  })
}

/** Whoever sees a secret of a source could put it to use wherever the source does. */
function demandSource(source: string, applied: readonly { realm: string }[], may: (realm: string) => boolean): void {
  const own = applied.filter(({ realm }) => may(realm))
  if (!own.length)
    throw failure(
      'not_found',
      `no source ${source} has applied to a realm that you administer: look at "regent source list"`,
    )
  if (own.length < applied.length)
    throw failure('forbidden', `the source ${source} has applied to realms that you do not administer, too`)
}

function unknownSecret(source: string, name: string): Error {
  return failure(
    'not_found',
    `no secret ${name} was made for the source ${source}: "regent secret list ${source}" shows those that were`,
  )
}
