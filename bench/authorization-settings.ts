// Authorization settings of a client with many resources, for measurements of decisions.

/** The client with the settings, whose resources are protected. */
export const PROTECTED_CLIENT = 'protected'
/** Number of resources, and of policies with the permissions among them. */
export const AUTHORIZATION_SIZE = { resources: 1_000, policies: 200 } as const

const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at)

/**
 * Returns the representation of the client. A permission applies to ten resources, and combines a policy on a role with one on the given
 * client: one of both is sufficient.
 */
export function createProtectedClient({
  client,
  roles,
}: {
  readonly client: string
  readonly roles: readonly string[]
}) {
  const { resources, policies } = AUTHORIZATION_SIZE
  const permissions = policies / 2
  const perPermission = resources / permissions
  const name = (at: number) => `Resource ${at}`
  const policy = (policyName: string, type: string, config: object) => ({ name: policyName, type, config })
  const conditions = numbers(permissions / 2).flatMap((at) => [
    policy(`Role ${at}`, 'role', { roles: JSON.stringify([{ id: roles[at % roles.length] }]) }),
    policy(`Client ${at}`, 'client', { clients: JSON.stringify([client]) }),
  ])
  return {
    clientId: PROTECTED_CLIENT,
    secret: 'protected-secret',
    serviceAccountsEnabled: true,
    authorizationServicesEnabled: true,
    authorizationSettings: {
      policyEnforcementMode: 'ENFORCING',
      decisionStrategy: 'UNANIMOUS',
      allowRemoteResourceManagement: true,
      scopes: [{ name: 'read' }, { name: 'write' }],
      resources: numbers(resources).map((at) => ({
        name: name(at),
        uris: [`/resources/${at}/*`],
        scopes: [{ name: 'read' }, { name: 'write' }],
      })),
      policies: [
        ...conditions,
        ...numbers(permissions).map((at) => ({
          ...policy(`Permission ${at}`, 'resource', {
            resources: JSON.stringify(numbers(perPermission).map((offset) => name(at * perPermission + offset))),
            applyPolicies: JSON.stringify([`Role ${at % (permissions / 2)}`, `Client ${at % (permissions / 2)}`]),
          }),
          decisionStrategy: 'AFFIRMATIVE',
        })),
      ],
    },
  }
}

/** The parameters of a request for a decision about one of the resources. */
export const decisionForm = {
  grant_type: 'urn:ietf:params:oauth:grant-type:uma-ticket',
  audience: PROTECTED_CLIENT,
  response_mode: 'decision',
}

/** The permission that such a request names. */
export const DECIDED_PERMISSION = 'Resource 500#read'
