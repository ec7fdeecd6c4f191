// The evaluation of the policies of a client, as an administrator requests it. Keycloak: PolicyEvaluationService.
import { isAdminPermissions } from '../../kinds/admin-permissions.ts'
import type { Representation } from '../../kinds/json.ts'
import { getResourceServer } from '../../service/admin-api/authorization/resource-servers.ts'
import { listContextAttributes } from '../../service/authorization/context-attributes.ts'
import { addTicketsOfOthers, loadResourceServerFor } from '../../service/authorization/evaluation-data.ts'
import { decideObjectAccess } from '../../service/authorization/object-decisions.ts'
import type { Context } from '../../service/context/context.ts'
import type { Service } from '../../service/context/service.ts'
import { type AccessDecision, decideAccess } from '../../service/policy-evaluation/access-decisions.ts'
import { type NamedResource, resolveRequests } from '../../service/policy-evaluation/access-requests.ts'
import type { Attributes } from '../../service/policy-evaluation/attributes.ts'
import type { ResourceServer } from '../../service/policy-evaluation/resource-server.ts'
import { buildEvaluatedIdentity, type RequestedIdentity } from './evaluated-identity.ts'

/** The policies to evaluate, and the user for whom. */
export interface EvaluationRequest {
  /** Id of the client with the policies. */
  readonly client: string
  readonly identity: RequestedIdentity
  /** Of fine-grained admin permissions. */
  readonly resourceType: string | undefined
  /** Empty: all resources of the client and of the user. */
  readonly resources: readonly NamedResource[]
  /** Further attributes of the context, each with values that commas separate. */
  readonly attributes: Readonly<Record<string, string>>
}

/** The decisions about a request, with the claims of the token that was evaluated. */
export interface PolicyEvaluationResult {
  readonly server: ResourceServer
  readonly decisions: readonly AccessDecision[]
  /** The claims of the token, and the given attributes of the context. */
  readonly claims: Representation
  readonly attributes: Attributes
}

/** Evaluates the policies of a client for a user. The number of statements does not depend on what is evaluated. */
export async function evaluatePolicies(
  context: Context,
  { service, base }: { readonly service: Service; readonly base: string },
  { client: id, identity: requested, resourceType, resources, attributes }: EvaluationRequest,
): Promise<PolicyEvaluationResult> {
  const client = await getResourceServer(context, id, 'view-authorization')
  const evaluated = await buildEvaluatedIdentity(context, { service, base, server: client }, requested)
  const { identity } = evaluated
  const settings = await loadResourceServerFor(context, client, identity.id)
  const requests = resolveRequests(settings, identity, resources)
  const server = await addTicketsOfOthers(context, settings, { user: identity.id, requests })
  const givenAttributes = new Map(Object.entries(attributes).map(([name, text]) => [name, splitValues(text)]))
  const evaluation = {
    identity,
    attributes: new Map([...listContextAttributes(context, evaluated.client.key[0]!), ...givenAttributes]),
  }
  const decisions = isAdminPermissions(client.representation)
    ? await decideObjectAccess(context, { server, evaluation }, { type: resourceType, resources })
    : decideAccess(server, evaluation, requests)
  const audience = [evaluated.claims.aud ?? []].flat()
  const clientId = client.key[0]!
  const claims = audience.includes(clientId) ? evaluated.claims : { ...evaluated.claims, aud: clientId }
  return { server, decisions, claims, attributes: givenAttributes }
}

/** Keycloak: empty values at the end do not count. */
function splitValues(text: string): string[] {
  const values = text.split(',')
  while (values.length > 1 && values.at(-1) === '') values.pop()
  return values
}
