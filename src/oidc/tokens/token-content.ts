// What tokens say: the claims of everything that is said of a user to a client, by one function. See decision 0024.
import type { Context } from '../../service/context/context.ts'
import type { Service } from '../../service/context/service.ts'
import type { MapperHolder, OrganizationFacts, UserFacts } from '../../service/context/store-types.ts'
import { factsOf } from '../../service/login/token-content.ts'
import { activeMappers, changedRoles, showsRoles, takesPart } from '../mappers/active.ts'
import type { Claims } from '../mappers/claims.ts'
import { mapperTypes } from '../mappers/index.ts'
import type { Facts, Subject, Target } from '../mappers/mapper.ts'
import { knownMappers } from './known-mappers.ts'
import { aliasesIn, holderOf, isOfOrganizations, scopesNamed } from './scopes.ts'

export type { Claims } from '../mappers/claims.ts'
export type { Subject, Target } from '../mappers/mapper.ts'

/** What is said of a user to a client. */
export interface TokenContent {
  /** The scope as tokens show it. */
  readonly scope: string
  /** All words of the scope, also those that tokens do not show. */
  readonly scopes: readonly string[]
  /**
   * The claims for one of the targets, beside those that say when and where it was made. `token`: those of the token that
   * is introspected, which mappers add to.
   */
  claims(target: Target, token?: Claims): Claims
}

/** What the targets say of the user to the client. Statements: two at most, whatever the user has. */
export async function tokenContent(
  service: Service,
  context: Context,
  subject: Subject,
  targets: readonly Target[],
): Promise<TokenContent> {
  const { client, user } = subject
  const granted = await grantedHolders(service, context, subject)
  const facts = await factsOf(context, user.id, {
    client: client.id,
    scopes: granted.flatMap(({ id, name }) => (name === null ? [] : [id])),
    fullScope: client.representation.fullScopeAllowed === true,
    roles: activeMappers(granted).some((mapper) => targets.some((target) => showsRoles(mapper, target, subject))),
  })
  const holders = granted.filter(({ id, name }) => name === null || facts.permitted.includes(id))
  const scopes = subject.scopes.filter((word) => isPermitted(word, holders, facts))
  const scope = scopes.filter((word) => holderOf(holders, word)?.shown ?? true).join(' ')
  const mappers = activeMappers(holders)
  const all: Facts = {
    ...subject,
    roles: changedRoles(mappers, facts.roles, subject),
    groups: facts.groups,
    organizations: shownOrganizations(subject, scopes, holders, facts),
    mappers,
  }
  return { scope, scopes, claims: (target, token) => claimsFor(target, all, { scope, ...token }) }
}

/** The client scopes that the words name, and the client, with their mappers. */
async function grantedHolders(
  service: Service,
  context: Context,
  { client, scopes }: Subject,
): Promise<MapperHolder[]> {
  const found = await knownMappers(service, context, client.id, scopesNamed(scopes))
  const named = new Set(scopes.map((word) => holderOf(found, word)))
  return found.filter((holder) => holder.name === null || named.has(holder))
}

/** Keycloak: client scopes with roles are for those who have one of them; organizations are for their members. */
function isPermitted(word: string, holders: readonly MapperHolder[], { organizations }: UserFacts): boolean {
  const holder = holderOf(holders, word)
  if (!holder) return word === 'openid'
  const aliases = holder.name === word ? undefined : aliasesIn([word])
  return !Array.isArray(aliases) || organizations.some(({ alias }) => aliases.includes(alias))
}

function shownOrganizations(
  { realm }: Subject,
  words: readonly string[],
  holders: readonly MapperHolder[],
  { organizations }: UserFacts,
): readonly OrganizationFacts[] | undefined {
  const asking = words.filter((word) => {
    const holder = holderOf(holders, word)
    return holder && isOfOrganizations(holder)
  })
  if (!asking.length || realm.settings.organizationsEnabled !== true) return undefined
  const aliases = aliasesIn(asking)
  // Who belongs to several has to say which: nobody asks them yet.
  if (aliases === undefined) return organizations.length === 1 ? organizations : []
  return organizations.filter(({ alias }) => aliases === '*' || aliases.includes(alias))
}

function claimsFor(target: Target, facts: Facts, given: Claims): Claims {
  const claims: Claims = { ...firstClaims(facts, given)[target] }
  for (const mapper of facts.mappers) {
    if (takesPart(mapper, target, facts)) mapperTypes[mapper.type]!.map(claims, mapper.settings, facts, target)
  }
  if (target === 'userInfo') return { sub: facts.user.id, ...ofUser(claims) }
  const { aud, ...others } = claims
  const audience = target === 'accessToken' && facts.audience ? facts.audience : undefined
  const meant = aud === undefined ? [] : [aud].flat().filter((name) => audience?.includes(String(name)) ?? true)
  return { ...others, ...(meant.length && { aud: meant.length === 1 ? meant[0] : meant }) }
}

/** Keycloak: what is about a token is not about its user. */
function ofUser({ azp: _client, sid: _session, acr: _level, auth_time: _time, ...claims }: Claims): Claims {
  return claims
}

/** What is said before any mapper says something. */
function firstClaims({ client, user, session, nonce }: Facts, given: Claims): Record<Target, Claims> {
  const azp = client.key[0]!
  const sid = session && { sid: session.id }
  return {
    accessToken: { ...(!session && { sub: user.id }), azp, ...sid, scope: given.scope },
    idToken: { sub: user.id, aud: [azp], azp, ...sid, ...(nonce !== undefined && { nonce }) },
    userInfo: {},
    introspection: given,
    response: {},
  }
}
