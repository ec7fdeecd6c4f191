// The effect of a field, a setting or a provider: whether Regent enforces it.
import type { Json } from '../json.ts'

/** The effect of a declared value. */
export type FieldEffect = EnforcedEffect | UnenforcedEffect | ProviderEffects

/** The value takes effect. */
export interface EnforcedEffect {
  readonly effect: 'enforced'
  /** A file of tests that fail if the code that reads the value is removed. */
  readonly test: string
  /** Only the admin API uses the value: it returns it, searches by it, or decides by it what callers may change. */
  readonly isApiData?: true
}

/**
 * `stored only`: the value is stored and returned, and has no effect. `refused`: the value protects something that Regent cannot protect, and
 * refuses instead. `dropped`: the value is accepted, and not stored.
 */
export interface UnenforcedEffect {
  readonly effect: 'stored only' | 'refused' | 'dropped'
  /** The end of a sentence: the missing part of Regent, or the consequence. */
  readonly reason: string
  /** Of a refused value: a file of tests that fail if it is not refused. */
  readonly test?: string
  /** Values that ask for nothing, besides an absent or empty value, false, and the default. */
  readonly unless?: readonly Json[]
  /** The values that have this effect. Absent: all. */
  readonly values?: readonly Json[]
  /** Values of other fields of the object, by path, with which it asks for nothing. */
  readonly unlessFields?: Readonly<Record<string, Json>>
}

/** The effects of values that are ids of providers, or names such as those of languages. */
export interface ProviderEffects {
  readonly effect: 'provider'
  /** The word for a value, such as authenticator. */
  readonly label: string
  readonly providers: Readonly<Record<string, EnforcedEffect | UnenforcedEffect>>
  /** The effect of unknown values, such as the id of a custom provider. */
  readonly unlisted: EnforcedEffect | UnenforcedEffect
}

/**
 * The effects of the fields of a kind. The key is the name of a field, `field.key` for a key of a map, `field.*` for its other keys, or
 * `field.member` for a member of the elements of a list.
 */
export type KindEffects = Readonly<Record<string, FieldEffect>>

type Effects<E extends FieldEffect> = Readonly<Record<string, E>>

/** Returns the effects of values that are enforced. */
export const enforced = (test: string, names: readonly string[]): Effects<EnforcedEffect> =>
  toEffects(names, { effect: 'enforced', test })

/** Returns the effects of values that only the admin API uses, such as descriptions. */
export const apiData = (test: string, names: readonly string[]): Effects<EnforcedEffect> =>
  toEffects(names, { effect: 'enforced', test, isApiData: true })

/** Returns the effects of values that are stored only. */
export const storedOnly = (
  reason: string,
  names: readonly string[],
  unless?: readonly Json[],
): Effects<UnenforcedEffect> => toEffects(names, { effect: 'stored only', reason, ...(unless && { unless }) })

/** Returns the effects of values that protect something that is refused instead. */
export const refused = (
  { reason, test, unless }: Pick<UnenforcedEffect, 'reason' | 'unless'> & { readonly test: string },
  names: readonly string[],
): Effects<UnenforcedEffect> => toEffects(names, { effect: 'refused', reason, test, ...(unless && { unless }) })

/** Returns the effects of values that are not stored. */
export const dropped = (reason: string, names: readonly string[]): Effects<UnenforcedEffect> =>
  toEffects(names, { effect: 'dropped', reason })

/** Combines effects of different names. Throws if a name is there twice. */
export function combineEffects<E extends FieldEffect = FieldEffect>(
  ...parts: readonly Effects<NoInfer<E>>[]
): Effects<E> {
  const entries = parts.flatMap((part) => Object.entries(part))
  const effects = Object.fromEntries(entries)
  const repeated = entries.find(([name, effect]) => effects[name] !== effect)
  if (repeated) throw new Error(`${repeated[0]} has two effects.`)
  return effects
}

/** Returns the effect of a value that is the id of a provider. `unlisted`: the reason why unknown ones are not enforced; `effect`: their effect. */
export function byProvider(
  {
    label,
    unlisted,
    effect = 'stored only',
  }: { readonly label: string; readonly unlisted: string; readonly effect?: 'stored only' | 'refused' },
  ...parts: readonly Effects<EnforcedEffect | UnenforcedEffect>[]
): ProviderEffects {
  const providers = combineEffects<EnforcedEffect | UnenforcedEffect>(...parts)
  return { effect: 'provider', label, providers, unlisted: { effect, reason: unlisted } }
}

function toEffects<E extends FieldEffect>(names: readonly string[], effect: E): Effects<E> {
  return Object.fromEntries(names.map((name) => [name, effect]))
}
