// The scope values that a request asks for, also where they are those of a code or a token.
import { decodeJwt, errors } from 'jose'
import type { PolicyEventName } from '../../service/client-policies/policy-event.ts'
import type { Context } from '../../service/context/context.ts'
import { findCodeScope } from '../grants/authorization-code.ts'

/** A request of a client. */
interface ScopeRequest {
  readonly name: PolicyEventName
  readonly parameters: Readonly<Record<string, string | undefined>>
}

/** Returns the scope values of a request. Those of a token are not verified: the grant does so. `read`: runs a read in the realm. */
export async function findRequestedScopes(
  { name, parameters }: ScopeRequest,
  read: <T>(work: (context: Context) => Promise<T>) => Promise<T>,
): Promise<readonly string[]> {
  const { grant_type: grantType, code, scope, refresh_token: token } = parameters
  if (name === 'token' && grantType === 'authorization_code' && code !== undefined)
    return splitScope(await read((context) => findCodeScope(context, code)))
  if (name === 'token' && grantType === 'refresh_token' && token !== undefined) return splitScope(readTokenScope(token))
  return splitScope(scope)
}

const splitScope = (scope = ''): readonly string[] => scope.split(' ').filter(Boolean)

function readTokenScope(token: string): string | undefined {
  try {
    const { scope } = decodeJwt(token)
    return typeof scope === 'string' ? scope : undefined
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined
    throw error
  }
}
