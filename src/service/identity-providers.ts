// Identity providers: what their settings must fulfil.
import { kinds } from '../kinds/index.ts'
import type { Representation } from '../kinds/kind.ts'
import type { Context } from './context.ts'
import { failure } from './errors.ts'
import { claimedIssuer, providerProblem } from './identity-provider-checks.ts'
import { listObjects } from './live.ts'
import { changed, plain, type Writers } from './objects.ts'

const kind = kinds.identityProvider
const writers = plain(kind.name)

/** The writers of identity providers. */
export const identityProviders: Writers = {
  ...writers,
  async create(context, objects) {
    const whole = objects.map(({ representation }) => {
      const { config, ...given } = kind.defaults(representation)
      const settings = { ...(config as Representation), ...(representation.config as Representation | undefined) }
      return { ...given, ...representation, config: settings }
    })
    await check(context, whole, [])
    return writers.create(context, objects)
  },
  async update(context, updates) {
    const whole = updates.map(changed)
    await check(
      context,
      whole,
      updates.map(({ live }) => live.id),
    )
    return writers.update(context, updates)
  },
}

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
  const others = (await listObjects(context, kind.name, {})).filter(({ id }) => !ids.includes(id))
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
