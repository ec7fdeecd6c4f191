// Protections that clients require, and that Regent does not enforce. What they protect is refused instead.
import type { RefusedUse } from '../kinds/effects/field-effect.ts'
import { effects } from '../kinds/effects/index.ts'
import { type Json, readTextMap } from '../kinds/json.ts'
import type { LiveObject } from '../service/objects/live-objects.ts'

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

/** Returns the reason why a use of the client is refused; undefined if it is not. */
export function findUnenforcedProtection(
  { representation }: Pick<LiveObject, 'representation'>,
  uses: readonly RefusedUse[],
): string | undefined {
  const attributes = readTextMap(representation.attributes)
  const attribute = uses
    .flatMap((use) => refusedAttributes.get(use) ?? [])
    .find((refused) => isSet(refused, attributes[refused.name]))
  return attribute && `The client requires ${attribute.name}, which this server does not support`
}

const isSet = ({ inert }: RefusedAttribute, value: string | undefined): boolean =>
  value !== undefined && value !== '' && value !== 'false' && !inert.includes(value)
