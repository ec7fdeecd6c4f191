// The operations on client registration: initial access tokens, registration access tokens, and the providers of policies.
import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import { namedSchemas } from '../../kinds/json-schema.ts'
import { getOidcRealm } from '../../oidc/oidc-realm.ts'
import { signInitialToken, signRegistrationToken } from '../../oidc/registration/registration-tokens.ts'
import { listRegistrationPolicyProviders } from '../../service/admin-api/realms/components.ts'
import type { WriteContext } from '../../service/context/context.ts'
import { describeAdminEvent } from '../../service/journal/admin-events.ts'
import {
  createInitialToken,
  deleteInitialAccess,
  listInitialTokens,
} from '../../service/registration/initial-access-tokens.ts'
import { createRegistrationToken } from '../../service/registration/registered-clients.ts'
import type { BodyForm } from '../body.ts'
import { recordEvent } from '../event.ts'
import { readHandler, writeHandler } from '../handlers.ts'
import { type Call, getParameter, type Operation, tagged } from '../operation.ts'
import { toProperty } from '../property.ts'
import { representationOf } from '../representations.ts'
import { badRequest, errorResponses, noContentResponse } from '../responses.ts'
import { componentTypeSchema } from './components.ts'

const PATH = '/admin/realms/{realm}/clients-initial-access'
const MAX_INTEGER = 2 ** 31 - 1

const lifespan = 'Seconds after which the token expires; 0: never.'
const settings = z
  .strictObject({
    expiration: z.int().max(MAX_INTEGER).nullish().describe(`${lifespan} Default: 0.`),
    count: z.int().max(MAX_INTEGER).nullish().describe('Number of clients that it can register; default: 1.'),
    webOrigins: z.array(z.string()).nullish().describe('Origins of scripts that may use the token.'),
  })
  .register(namedSchemas, { id: 'ClientInitialAccessCreatePresentation' })

const token = z
  .object({
    id: z.string().describe('Id of the token.'),
    token: z.string().optional().describe('The token, only in the response to its creation.'),
    timestamp: z.int().describe('Time of the creation, in seconds since 1970.'),
    expiration: z.int().describe(lifespan),
    count: z.int().describe('Number of clients that it can register.'),
    remainingCount: z.int().describe('Number of clients that it can still register.'),
  })
  .register(namedSchemas, { id: 'ClientInitialAccessPresentation' })

const body = {
  schema: settings,
  description: 'The settings of the token.',
  representation: 'ClientInitialAccessCreatePresentation',
} satisfies BodyForm

/** The operations on client registration. */
export const clientRegistrationOperations: Operation[] = [
  ...tagged('Client Initial Access', [
    {
      operationId: 'listInitialAccessTokens',
      method: 'GET',
      path: PATH,
      summary: 'List initial access tokens, without the tokens themselves',
      permission: 'view-clients',
      responses: { 200: { description: 'The tokens, the oldest first.', schema: z.array(token) }, ...errorResponses },
      handle: readHandler((context) => listInitialTokens(context)),
    },
    {
      operationId: 'createInitialAccessToken',
      method: 'POST',
      path: PATH,
      summary: 'Create an initial access token, with which applications register clients',
      permission: 'manage-clients',
      event: 'CLIENT_INITIAL_ACCESS_MODEL',
      body,
      responses: { 201: { description: 'The token.', schema: token }, ...errorResponses, ...badRequest },
      handle: createToken,
    },
    {
      operationId: 'deleteInitialAccessToken',
      method: 'DELETE',
      path: `${PATH}/{id}`,
      summary: 'Delete an initial access token',
      permission: 'manage-clients',
      event: 'CLIENT_INITIAL_ACCESS_MODEL',
      responses: { ...noContentResponse, ...errorResponses },
      handle: writeHandler((context, call) => deleteInitialAccess(context, getParameter(call, 'id'))),
    },
  ]),
  ...tagged('Client Registration Policy', [
    {
      operationId: 'listClientRegistrationPolicyProviders',
      method: 'GET',
      path: '/admin/realms/{realm}/client-registration-policy/providers',
      summary: 'List the providers of client registration policies, with their settings',
      permission: 'view-realm',
      responses: { 200: { description: 'The providers.', schema: z.array(componentTypeSchema) }, ...errorResponses },
      handle: readHandler(async (context) =>
        (await listRegistrationPolicyProviders(context)).map(({ id, helpText = '', properties }) => ({
          id,
          helpText,
          properties: properties.map(toProperty),
          metadata: {},
        })),
      ),
    },
  ]),
  ...tagged('Clients', [
    {
      operationId: 'createRegistrationAccessToken',
      method: 'POST',
      path: '/admin/realms/{realm}/clients/{client-uuid}/registration-access-token',
      summary: 'Regenerate the registration access token of a client',
      permission: 'manage-clients',
      event: { type: kinds.client.events.type, operation: 'ACTION' },
      responses: {
        200: { description: 'The client, with the token.', schema: representationOf(kinds.client) },
        ...errorResponses,
      },
      handle: regenerateToken,
    },
  ]),
]

async function createToken(call: Call) {
  const declared = settings.parse(call.body)
  const created = await call.service.write(call.caller, getParameter(call, 'realm'), async (context: WriteContext) => {
    const initialToken = await createInitialToken(context, declared)
    describeAdminEvent(context, { representation: declared })
    recordEvent(context, call, initialToken.id)
    return initialToken
  })
  const { id, expiration } = created
  const origins = declared.webOrigins
  const signed = await signInitialToken(await getIssuer(call), {
    id,
    lifespan: expiration,
    ...(origins && { origins }),
  })
  return { status: 201, created: id, body: { ...created, token: signed } }
}

async function regenerateToken(call: Call) {
  const { client, token } = await call.service.write(
    call.caller,
    getParameter(call, 'realm'),
    async (context: WriteContext) => {
      const registered = await createRegistrationToken(context, getParameter(call, 'client-uuid'))
      recordEvent(context, call)
      return registered
    },
  )
  const registrationAccessToken = await signRegistrationToken(await getIssuer(call), token!)
  return { status: 200, body: { ...client, registrationAccessToken } }
}

/** Returns the realm that signs a token. It is signed after the commit, since a missing key is generated in a transaction of its own. */
async function getIssuer(call: Call) {
  const { service, base } = call
  return { service, base, realm: await getOidcRealm(service, getParameter(call, 'realm')) }
}
