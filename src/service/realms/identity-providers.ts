// Identity providers: what their settings must fulfil.
import type { Representation } from '../../kinds/json.ts'
import type { Context } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { checkedWriters } from '../objects/checked.ts'
import { listObjects } from '../objects/live.ts'
import { claimedIssuer, providerProblem } from './identity-provider-checks.ts'

/** The writers of identity providers. */
export const identityProviders = checkedWriters('identityProvider', check)

/** Throws invalid when a provider cannot be as it is; `ids`: of those that exist. Statements: two. */
async function check(context: Context, providers: readonly Representation[], ids: readonly string[]): Promise<void> {
  const [realm] = await listObjects(context, 'realm', {})
  for (const provider of providers) {
    const problem = providerProblem(provider, realm?.representation.sslRequired)
    if (problem !== undefined) throw failure('invalid', problem)
  }
  if (providers.some(claimedIssuer)) await refuseClaimed(context, providers, ids)
}

/** Whose word counts for people and clients of the realm is known by the issuer: one provider may claim it. */
async function refuseClaimed(
  context: Context,
  providers: readonly Representation[],
  ids: readonly string[],
): Promise<void> {
  const others = (await listObjects(context, 'identityProvider', {})).filter(({ id }) => !ids.includes(id))
  const holders = new Map(others.map(({ representation }) => [claimedIssuer(representation), representation.alias]))
  for (const provider of providers) {
    const issuer = claimedIssuer(provider)
    if (issuer === undefined) continue
    if (holders.has(issuer)) {
      throw failure(
        'invalid',
        `Issuer URL already used for IDP '${holders.get(issuer)}', Issuer must be unique if the idp supports JWT Authorization Grant or Federated Client Authentication`,
      )
    }
    holders.set(issuer, provider.alias)
  }
}
