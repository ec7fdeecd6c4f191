// Which policies of a client a list means.
import { PERMISSIONS } from '../../../kinds/authorization-policy-types.ts'
import type { Context } from '../../context/context.ts'
import type { LiveObject } from '../../objects/live.ts'
import type { Query } from '../common/resource.ts'
import { listOf } from './resource-servers.ts'

/** Keycloak: type by a part of it in any case, resource and scope by id or such a part. Undefined where there is no such one. */
export async function filterPolicies(
  context: Context,
  server: LiveObject,
  all: readonly LiveObject[],
  { policyId, type, permission, resource, scope }: Query,
): Promise<LiveObject[] | undefined> {
  const resources = resource ? await named(context, server, 'authorizationResource', String(resource)) : undefined
  const scopes = scope ? await named(context, server, 'authorizationScope', String(scope)) : undefined
  if (resources?.length === 0 || scopes?.length === 0) return undefined
  return all.filter((live) => {
    const own = String(live.representation.type)
    return (
      (!policyId || live.id === policyId) &&
      (!type || own.toLowerCase().includes(String(type).toLowerCase())) &&
      (permission === undefined || PERMISSIONS.includes(own) === permission) &&
      (!resources || namesIn(live, 'resources').some((name) => resources.includes(name))) &&
      (!scopes || namesIn(live, 'scopes').some((name) => scopes.includes(name)))
    )
  })
}

/** The names of what has that id, or the text in its name. */
async function named(
  context: Context,
  server: LiveObject,
  kind: 'authorizationResource' | 'authorizationScope',
  text: string,
): Promise<string[]> {
  const all = await listOf(context, server, kind)
  const byId = all.filter(({ id }) => id === text)
  const found = byId.length ? byId : all.filter(({ key }) => key.at(-1)!.toLowerCase().includes(text.toLowerCase()))
  return found.map(({ key }) => key.at(-1)!)
}

/** The names that a policy has in a field. */
export function namesIn({ representation }: LiveObject, field: string): string[] {
  return (representation[field] ?? []) as string[]
}
