// Providers that documents name and Regent does not have, such as a custom authenticator: kept, and told. Pure.
import { resolve } from '../../kinds/compare.ts'
import type { Field, ProviderFacts } from '../../kinds/fields.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json, Representation } from '../../kinds/json.ts'
import { describe } from '../../kinds/tree.ts'
import type { Note } from '../model/action.ts'
import type { DeclaredObject } from '../model/plan-input.ts'

/** A note for each provider that is not there: one for all objects of a kind that name it. */
export function unknownProviders(stated: Iterable<DeclaredObject>): Note[] {
  const found = [...stated].flatMap((one) =>
    [...one.fields].flatMap(([path, { value, origin }]) =>
      unknownIn(resolve(kinds[one.kind], path).field, value).map(({ facts, provider }) => ({
        one,
        facts,
        provider,
        position: origin.locate(path, [provider]),
      })),
    ),
  )
  return [...Map.groupBy(found, ({ one, provider }) => `${one.kind} ${provider}`).values()].map((all) => {
    const { one, facts, provider, position } = all[0]!
    const named = new Set(all.map(({ one }) => one)).size
    const who = named === 1 ? describe(one.kind, one.key) : `${named} ${kinds[one.kind].title}s`
    return { message: `${who}: Regent does not have the ${facts.what} ${provider}; ${facts.otherwise}`, position }
  })
}

function unknownIn(field: Field, value: Json): { facts: ProviderFacts; provider: string }[] {
  if (field.members && Array.isArray(value))
    return (value as Representation[]).flatMap((element) =>
      Object.entries(field.members!).flatMap(([name, member]) => unknownIn(member, element[name] ?? null)),
    )
  const { provider: facts } = field
  return facts && typeof value === 'string' && value !== '' && !facts.known.has(value)
    ? [{ facts, provider: value }]
    : []
}
