import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import { listEvaluatedMappers, listEvaluatedRoles, generateExample } from '../../oidc/tokens/scope-evaluation.ts'
import { showRole } from '../../service/admin-api/roles/roles.ts'
import { reading } from '../handlers.ts'
import { type Call, type Operation, operationId, param, tagged, type Untagged } from '../operation.ts'
import { components, refusals, representationOf } from '../responses.ts'

const PATH = '/admin/realms/{realm}/clients/{client-uuid}/evaluate-scopes'

/** What examples are of, with their names in addresses. */
const NAMES = { accessToken: 'access-token', idToken: 'id-token', userInfo: 'userinfo' } as const

const scope = { scope: z.string().optional().describe('What a request would ask for, as in its scope parameter.') }
const forUser = z.object({
  ...scope,
  userId: z.string().optional().describe('Id of the user that the example is about.'),
  audience: z.string().optional().describe('Client ids that the token shall be for, separated by spaces.'),
})

const mapper = z
  .object({
    mapperId: z.string().describe('Id of the mapper.'),
    mapperName: z.string().describe('Name of the mapper.'),
    containerId: z.string().describe('Id of the client or client scope that has it.'),
    containerName: z.string().describe('What asks for the client scope; nothing for the client itself.'),
    containerType: z.enum(['client', 'client-scope']).describe('What has it.'),
    protocolMapper: z.string().describe('Type of the mapper.'),
  })
  .register(components, { id: 'ProtocolMapperEvaluationRepresentation' })

const claims = z.record(z.string(), z.json()).describe('Claims by name.')

/** What a client would get for a scope. */
export const evaluateScopesOperations: Operation[] = tagged('Clients', [
  {
    operationId: 'listEvaluatedProtocolMappers',
    method: 'GET',
    path: `${PATH}/protocol-mappers`,
    summary: 'Evaluate client scopes: list the effective protocol mappers of a client',
    permission: 'view-clients',
    query: z.object(scope),
    responses: { 200: { description: 'The mappers.', schema: z.array(mapper) }, ...refusals },
    handle: reading(async (context, call) => {
      const found = await listEvaluatedMappers(context, clientOf(call), textOf(call, 'scope'))
      return found.map(({ mapper: { id, name, type }, container, scope }) => ({
        mapperId: id,
        mapperName: name,
        containerId: container,
        containerName: scope ?? '',
        containerType: scope === undefined ? 'client' : 'client-scope',
        protocolMapper: type,
      }))
    }),
  },
  roles('granted', 'Evaluate client scopes: list the roles in the scope of a client'),
  roles('not-granted', 'Evaluate client scopes: list the roles outside the scope of a client'),
  ...(['accessToken', 'idToken', 'userInfo'] as const).map(examples),
])

function roles(which: 'granted' | 'not-granted', summary: string): Untagged {
  const path = `${PATH}/scope-mappings/{roleContainerId}/${which}`
  return {
    operationId: operationId('list', path),
    method: 'GET',
    path,
    summary,
    permission: 'view-clients',
    query: z.object(scope),
    responses: { 200: { description: 'The roles.', schema: z.array(representationOf(kinds.role)) }, ...refusals },
    handle: reading(async (context, call) => {
      const found = await listEvaluatedRoles(context, clientOf(call), {
        scope: textOf(call, 'scope'),
        container: param(call, 'roleContainerId'),
        granted: which === 'granted',
      })
      return found.map((role) => showRole(context, role, true))
    }),
  }
}

function examples(target: keyof typeof NAMES): Untagged {
  const path = `${PATH}/generate-example-${NAMES[target]}`
  return {
    operationId: operationId('get', path),
    method: 'GET',
    path,
    summary: `Evaluate client scopes: generate an example ${NAMES[target].replace('-', ' ')}`,
    permission: ['view-clients', 'view-users'],
    query: forUser,
    responses: { 200: { description: 'The claims.', schema: claims }, ...refusals },
    handle: reading((context, call) =>
      generateExample(context, {
        service: call.service,
        base: call.base,
        target,
        client: clientOf(call),
        user: call.query.userId as string | undefined,
        scope: textOf(call, 'scope'),
        audience: textOf(call, 'audience').split(' ').filter(Boolean),
      }),
    ),
  }
}

const clientOf = (call: Call): string => param(call, 'client-uuid')
const textOf = ({ query }: Call, name: string): string => String(query[name] ?? '')
