// The scope of a token: the client's default client scopes, and those of its optional ones that are asked for.
import type { Context } from '../service/context.ts'
import { writers } from '../service/index.ts'
import type { LiveObject } from '../service/live.ts'
import { OAuthError } from './oauth-error.ts'

/** Words of the scope parameter that are no client scopes. */
const PROTOCOL_SCOPES = ['openid']

/** The names that a token's scope shows. Throws invalid_scope. One statement. */
export async function grantedScopes(
  context: Context,
  { representation }: LiveObject,
  requested = '',
): Promise<readonly string[]> {
  const words = requested.split(' ').filter(Boolean)
  const byDefault = (representation.defaultClientScopes ?? []) as string[]
  const optional = (representation.optionalClientScopes ?? []) as string[]
  const unknown = words.filter((word) => ![...PROTOCOL_SCOPES, ...byDefault, ...optional].includes(word))
  if (unknown.length) {
    const reason = `Invalid scopes: ${words.join(' ')}`
    throw new OAuthError(400, 'invalid_scope', reason, { error: 'invalid_request', reason })
  }
  const names = [...byDefault, ...optional.filter((name) => words.includes(name))]
  const scopes = await writers.clientScope.list(context, { keys: names.map((name) => [name]) })
  const shown = scopes.filter(({ representation: { attributes } }) => showsInToken(attributes))
  return [...PROTOCOL_SCOPES.filter((word) => words.includes(word)), ...shown.map(({ key }) => key[0]!)]
}

function showsInToken(attributes: unknown): boolean {
  return (attributes as Record<string, string> | undefined)?.['include.in.token.scope'] !== 'false'
}
