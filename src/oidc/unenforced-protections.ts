// Protections that clients and client policies require, and that Regent does not enforce. What they protect is refused instead.
import type { RefusedUse } from '../kinds/effects/field-effect.ts'
import { effects } from '../kinds/effects/index.ts'
import { type Json, type Representation, readObjects, readTextMap } from '../kinds/json.ts'
import { listMatchingProfiles } from '../service/clients/matching-profiles.ts'
import type { LiveObject } from '../service/objects/live-objects.ts'
import type { OidcRealm } from './oidc-realm.ts'

/** An attribute of clients that has them refused, and the values that do not. */
interface RefusedAttribute {
  readonly name: string
  readonly inert: readonly Json[]
}

const refusedAttributes = Map.groupBy(
  Object.entries(effects.client).flatMap(([path, effect]) =>
    effect.effect === 'refused' && effect.refuses
      ? [{ name: path.slice(path.indexOf('.') + 1), use: effect.refuses, inert: effect.unless ?? [] }]
      : [],
  ),
  ({ use }): RefusedUse => use,
)

const executorEffects = effects.realm['clientProfiles.executors.executor']

/** Returns the reason why a use of the client is refused; undefined if it is not. */
export function findUnenforcedProtection(
  realm: Pick<OidcRealm, 'settings' | 'hasClientPolicies'>,
  { representation }: Pick<LiveObject, 'representation'>,
  uses: readonly RefusedUse[],
): string | undefined {
  const attributes = readTextMap(representation.attributes)
  const attribute = uses
    .flatMap((use) => refusedAttributes.get(use) ?? [])
    .find((refused) => isSet(refused, attributes[refused.name]))
  if (attribute) return `The client requires ${attribute.name}, which this server does not support`
  const executor = realm.hasClientPolicies ? findUnenforcedExecutor(realm.settings, representation) : undefined
  return executor && `A client policy requires ${executor}, which this server does not support`
}

const isSet = ({ inert }: RefusedAttribute, value: string | undefined): boolean =>
  value !== undefined && value !== '' && value !== 'false' && !inert.includes(value)

/** Returns an executor of the client's policies that is not enforced. Conditions that are not evaluated count as met. */
function findUnenforcedExecutor(realm: Representation, client: Representation): string | undefined {
  return listMatchingProfiles(realm, client, { unknownConditions: 'met' })
    .flatMap(({ executors }) => readObjects(executors))
    .map(({ executor }) => String(executor))
    .find((executor) => isRefused(executor))
}

function isRefused(executor: string): boolean {
  if (executorEffects?.effect !== 'provider') return false
  const { providers, unlisted } = executorEffects
  const { effect } = Object.hasOwn(providers, executor) ? providers[executor]! : unlisted
  return effect === 'refused'
}
