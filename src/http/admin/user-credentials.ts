// The operations on the credentials of a user.
import * as z from 'zod'
import { objectSchema } from '../../kinds/fields.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { anyRepresentation } from '../../kinds/json-schema.ts'
import {
  type CredentialAddress,
  createPasswordResetHasher,
  deleteCredential,
  deleteOneTimeCodes,
  listCredentials,
  moveCredential,
  resetPassword,
  setCredentialLabel,
} from '../../service/admin-api/users/credentials.ts'
import { getViewableUser, users } from '../../service/admin-api/users/users.ts'
import type { Context } from '../../service/context/context.ts'
import { prepareCredentials } from '../../service/users/credentials.ts'
import type { BodyForm } from '../body.ts'
import { HttpError } from '../errors.ts'
import { readHandler, writeHandler } from '../handlers.ts'
import { type Call, getParameter, readBodyAfter, type UntaggedOperation } from '../operation.ts'
import { badRequest, errorResponses, noContentResponse } from '../responses.ts'

const { view, manage } = users
const { type } = kinds.user.events
const credentials = kinds.user.fields.credentials!

const password: BodyForm = {
  schema: objectSchema({ ...credentials.members }),
  documented: anyRepresentation('CredentialRepresentation'),
  description: 'The new password, in `value`. With `temporary`, the user must change it at the next login.',
  representation: 'CredentialRepresentation',
}
const label: BodyForm = { schema: z.string(), description: 'The label of the credential.', plain: true }
const types = z.array(z.string()).describe('Types of credentials.')

const user = (call: Call) => getParameter(call, 'user-id')
const addressOf = (call: Call): CredentialAddress => ({ user: user(call), id: getParameter(call, 'credentialId') })

/** The operations on credentials of a user. */
export const credentialOperations: UntaggedOperation[] = [
  {
    operationId: 'listUserCredentials',
    method: 'GET',
    path: '/admin/realms/{realm}/users/{user-id}/credentials',
    summary: 'List the credentials of a user, without secret data',
    permission: view,
    responses: { 200: { description: 'The credentials, in order.', schema: credentials.schema }, ...errorResponses },
    handle: readHandler((context, call) => listCredentials(context, user(call))),
  },
  {
    operationId: 'deleteUserCredential',
    method: 'DELETE',
    path: '/admin/realms/{realm}/users/{user-id}/credentials/{credentialId}',
    summary: 'Delete a credential of a user',
    permission: manage,
    event: { type, operation: 'ACTION' },
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler((context, call) => deleteCredential(context, addressOf(call))),
  },
  {
    operationId: 'labelUserCredential',
    method: 'PUT',
    path: '/admin/realms/{realm}/users/{user-id}/credentials/{credentialId}/userLabel',
    summary: 'Update the label of a credential',
    permission: manage,
    event: false,
    body: label,
    responses: { ...noContentResponse, ...errorResponses, ...badRequest },
    handle: writeHandler(async (context, call) => {
      const text = (await readBodyAfter(call, () => checkUserAccess(context, call))) as string
      if (text.trim() === '') throw withoutLabel()
      await setCredentialLabel(context, addressOf(call), text)
    }),
  },
  {
    operationId: 'moveUserCredentialToFirst',
    method: 'POST',
    path: '/admin/realms/{realm}/users/{user-id}/credentials/{credentialId}/moveToFirst',
    summary: 'Move a credential to the first position',
    permission: manage,
    event: false,
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler((context, call) => moveCredential(context, addressOf(call))),
  },
  {
    operationId: 'moveUserCredentialAfter',
    method: 'POST',
    path: '/admin/realms/{realm}/users/{user-id}/credentials/{credentialId}/moveAfter/{newPreviousCredentialId}',
    summary: 'Move a credential behind another credential; behind `null`, to the first position',
    permission: manage,
    event: false,
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler((context, call) => moveCredential(context, addressOf(call), findPreviousId(call))),
  },
  {
    operationId: 'resetUserPassword',
    method: 'PUT',
    path: '/admin/realms/{realm}/users/{user-id}/reset-password',
    summary: 'Reset the password of a user',
    permission: manage,
    event: { type, operation: 'ACTION' },
    body: password,
    responses: { ...noContentResponse, ...errorResponses, ...badRequest },
    async handle(call) {
      const read = <T>(work: (context: Context) => Promise<T>) =>
        call.service.read(call.caller, getParameter(call, 'realm'), work)
      const body = (await readBodyAfter(call, () =>
        read((context) => checkUserAccess(context, call)),
      )) as Representation
      const make = await read((context) => createPasswordResetHasher(context, user(call), body))
      // Keycloak: the type in the body is ignored. Hashing is slow and precedes the transaction.
      const [prepared] = await prepareCredentials([{ value: body.value!, temporary: body.temporary === true }], make)
      return writeHandler((context) => resetPassword(context, user(call), prepared!))(call)
    },
  },
  {
    operationId: 'removeUserTotp',
    method: 'PUT',
    path: '/admin/realms/{realm}/users/{user-id}/remove-totp',
    summary: 'Remove the OTP credentials of a user',
    permission: manage,
    event: { type, operation: 'ACTION' },
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler((context, call) => deleteOneTimeCodes(context, user(call))),
  },
  {
    operationId: 'disableUserCredentialTypes',
    method: 'PUT',
    path: '/admin/realms/{realm}/users/{user-id}/disable-credential-types',
    summary: 'Disable credential types of a user storage provider',
    permission: manage,
    event: false,
    body: { schema: types, description: 'The types of credentials.' },
    responses: { ...noContentResponse, ...errorResponses, ...badRequest },
    handle: writeHandler(async (context, call) => {
      await readBodyAfter(call, () => checkUserAccess(context, call))
      await checkUserAccess(context, call)
    }),
  },
  {
    operationId: 'listUserStorageCredentialTypes',
    method: 'GET',
    path: '/admin/realms/{realm}/users/{user-id}/configured-user-storage-credential-types',
    summary: 'List the credential types of a user storage provider',
    permission: view,
    responses: { 200: { description: 'The types of credentials.', schema: types }, ...errorResponses },
    handle: readHandler(async (context, call) => {
      const { representation } = await getViewableUser(context, user(call))
      return representation.federationLink === undefined ? [] : ['password']
    }),
  },
]

/** Returns the id of the credential to move another one behind; undefined for `null`. */
function findPreviousId(call: Call): string | undefined {
  const id = getParameter(call, 'newPreviousCredentialId')
  return id === 'null' ? undefined : id
}

async function checkUserAccess(context: Context, call: Call): Promise<void> {
  await users.checkAccess?.(context, { id: user(call) })
}

function withoutLabel(): HttpError {
  return new HttpError(400, {
    error: 'missingCredentialLabel',
    error_description: 'Credential label must not be empty',
  })
}
