// Which identity providers a list is about.
import { type IdentityProviderType, identityProviderTypes } from '../../../kinds/identity-provider-types.ts'
import type { ProviderSearch } from '../../../store/identity-providers.ts'
import { failure } from '../../context/errors.ts'
import type { Query } from '../common/resource.ts'

/** Keycloak: what a list holds at most, unless it is asked for more. */
const PAGE = 100

/** What the query asks for. Throws invalid where it asks for what no provider can do. */
export function searchOf({ search, type, capability, realmOnly, first, max }: Query): Omit<ProviderSearch, 'visible'> {
  const text = String(search ?? '').trim()
  const exact = /^"(.*)"$/s.exec(text)?.[1]
  const able = [...idsFor('type', type, byType), ...idsFor('capability', capability, byCapability)]
  const [ofType, ofCapability] = able
  const providerIds = ofCapability ? ofType!.filter((id) => ofCapability.includes(id)) : ofType
  return {
    ...(exact !== undefined ? { exact } : text !== '' && { pattern: `${text}*` }),
    ...(providerIds && { providerIds }),
    ...(realmOnly === true && { realmOnly }),
    first: typeof first === 'number' && first >= 0 ? first : 0,
    ...(typeof max !== 'number' ? { max: PAGE } : max >= 0 && { max }),
  }
}

const byType = new Map(
  Object.values(identityProviderTypes)
    .flatMap(({ types }) => types)
    .map((type) => [type, idsWhere(({ types }) => types.includes(type))]),
)
const byCapability = new Map([['USER_LINKING', idsWhere(({ linksPeople }) => linksPeople !== false)]])

function idsWhere(fits: (type: IdentityProviderType) => boolean): string[] {
  return Object.entries(identityProviderTypes).flatMap(([id, type]) => (fits(type) ? [id] : []))
}

/** The types of providers that a filter leaves; none where it does not filter. */
function idsFor(name: string, value: unknown, known: ReadonlyMap<string, string[]>): string[][] {
  if (value === undefined || value === '' || value === 'ANY') return []
  const ids = known.get(String(value))
  if (!ids) throw failure('invalid', `${name} is one of ${[...known.keys()].join(', ')}`)
  return [ids]
}
