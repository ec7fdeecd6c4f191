// The writers of identity providers, which check their config.
import type { Representation } from '../../kinds/json.ts'
import type { Context } from '../context/context.ts'
import { failure, invalidObject } from '../context/errors.ts'
import { createCheckedWriters } from '../objects/checked-writers.ts'
import { listObjects } from '../objects/live-objects.ts'
import { findClaimedIssuer, findProviderProblem } from './identity-provider-checks.ts'

/** The writers of identity providers. */
export const identityProviders = createCheckedWriters('identityProvider', checkProviders)

/** Throws invalid where a complete provider has a problem. `ids` are those of the providers that exist. Two statements. */
async function checkProviders(
  context: Context,
  providers: readonly Representation[],
  ids: readonly string[],
): Promise<void> {
  const [realm] = await listObjects(context, 'realm', {})
  for (const provider of providers) {
    const problem = findProviderProblem(provider, realm?.representation.sslRequired)
    if (problem) throw invalidObject(problem)
  }
  if (providers.some(findClaimedIssuer)) await checkIssuers(context, providers, ids)
}

/** Throws invalid where two providers claim one issuer: it identifies the provider of an assertion. */
async function checkIssuers(
  context: Context,
  providers: readonly Representation[],
  ids: readonly string[],
): Promise<void> {
  const otherProviders = (await listObjects(context, 'identityProvider', {})).filter(({ id }) => !ids.includes(id))
  const aliases = new Map(
    otherProviders.map(({ representation }) => [findClaimedIssuer(representation), representation.alias]),
  )
  for (const provider of providers) {
    const issuer = findClaimedIssuer(provider)
    if (issuer === undefined) continue
    if (aliases.has(issuer)) {
      throw failure(
        'invalid',
        `Issuer URL already used for IDP '${aliases.get(issuer)}', Issuer must be unique if the idp supports JWT Authorization Grant or Federated Client Authentication`,
        { field: 'config.issuer' },
      )
    }
    aliases.set(issuer, provider.alias)
  }
}
