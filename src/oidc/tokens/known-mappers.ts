// The mappers that make what a client is told, kept in memory until the configuration of the realm changes.
import type { Context } from '../../service/context/context.ts'
import type { Service } from '../../service/context/service.ts'
import type { MapperHolder } from '../../service/context/store-types.ts'
import { mappersOf } from '../../service/login/token-content.ts'
import { perRevision } from './revised.ts'

/** So many sets of client scopes of a realm are kept in memory. */
const KEPT = 1_000

const kept = perRevision(async (_service, { revision }) => ({ revision, value: new Map<string, MapperHolder[]>() }))

/** As `mappersOf`, for OpenID Connect. Statements: one, or none where they are known. */
export async function knownMappers(
  service: Service,
  context: Context,
  client: string,
  names: readonly string[],
): Promise<readonly MapperHolder[]> {
  // What is new is read in the transaction of the context: this gives an empty map, without any.
  const known = await kept(service, context.realm)
  const key = JSON.stringify([client, ...[...names].sort()])
  const holders = known.get(key) ?? (await mappersOf(context, client, names))
  if (known.size >= KEPT) known.clear()
  known.set(key, holders)
  return holders
}
