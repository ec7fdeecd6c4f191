// The operations on the credentials of a user.
import * as z from 'zod'
import { objectSchema } from '../../kinds/fields.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import {
  listCredentials,
  moveCredential,
  passwordsFor,
  removeCredential,
  removeOneTimeCodes,
  resetPassword,
  setLabel,
} from '../../service/admin-api/users/credentials.ts'
import { findUser, users } from '../../service/admin-api/users/users.ts'
import type { Context } from '../../service/context/context.ts'
import { requirePermissions } from '../../service/permissions/require-permissions.ts'
import { prepareCredentials } from '../../service/users/credentials.ts'
import type { BodyForm } from '../body.ts'
import { HttpError } from '../errors.ts'
import { reading, writing } from '../handlers.ts'
import { bodyBehind, type Call, param, type Untagged } from '../operation.ts'
import { badRequest, done, refusals } from '../responses.ts'

const { view, manage } = users
const { type } = kinds.user.events
const credentials = kinds.user.fields.credentials!

const password: BodyForm = {
  schema: objectSchema({ ...credentials.members }),
  description: 'the password',
  representation: 'CredentialRepresentation',
}
const label: BodyForm = { schema: z.string(), description: 'what the person calls it', plain: true }
const types = z.array(z.string()).describe('Kinds of credentials.')

const user = (call: Call) => param(call, 'user-id')
const credential = (call: Call) => param(call, 'credentialId')

/** The credentials of a user, their order, and a new password. */
export const credentialOperations: Untagged[] = [
  {
    operationId: 'listUserCredentials',
    method: 'GET',
    path: '/admin/realms/{realm}/users/{user-id}/credentials',
    summary: 'List the credentials of a user, without secret data',
    permission: view,
    responses: { 200: { description: 'The credentials, in order.', schema: credentials.schema }, ...refusals },
    handle: reading((context, call) => listCredentials(context, user(call))),
  },
  {
    operationId: 'deleteUserCredential',
    method: 'DELETE',
    path: '/admin/realms/{realm}/users/{user-id}/credentials/{credentialId}',
    summary: 'Delete a credential of a user',
    permission: manage,
    event: { type, operation: 'ACTION' },
    responses: { ...done, ...refusals },
    handle: writing((context, call) => removeCredential(context, user(call), credential(call))),
  },
  {
    operationId: 'labelUserCredential',
    method: 'PUT',
    path: '/admin/realms/{realm}/users/{user-id}/credentials/{credentialId}/userLabel',
    summary: 'Update the label of a credential',
    permission: manage,
    event: false,
    body: label,
    responses: { ...done, ...refusals, ...badRequest },
    handle: writing(async (context, call) => {
      const text = (await bodyBehind(call, () => reach(context, call))) as string
      if (text.trim() === '') throw withoutLabel()
      await setLabel(context, user(call), credential(call), text)
    }),
  },
  {
    operationId: 'moveUserCredentialToFirst',
    method: 'POST',
    path: '/admin/realms/{realm}/users/{user-id}/credentials/{credentialId}/moveToFirst',
    summary: 'Move a credential to the first position',
    permission: manage,
    event: false,
    responses: { ...done, ...refusals },
    handle: writing((context, call) => moveCredential(context, user(call), credential(call))),
  },
  {
    operationId: 'moveUserCredentialAfter',
    method: 'POST',
    path: '/admin/realms/{realm}/users/{user-id}/credentials/{credentialId}/moveAfter/{newPreviousCredentialId}',
    summary: 'Move a credential behind another credential',
    permission: manage,
    event: false,
    responses: { ...done, ...refusals },
    handle: writing((context, call) =>
      moveCredential(context, user(call), credential(call), param(call, 'newPreviousCredentialId')),
    ),
  },
  {
    operationId: 'resetUserPassword',
    method: 'PUT',
    path: '/admin/realms/{realm}/users/{user-id}/reset-password',
    summary: 'Reset the password of a user',
    permission: manage,
    event: { type, operation: 'ACTION' },
    body: password,
    responses: { ...done, ...refusals, ...badRequest },
    async handle(call) {
      const read = <T>(work: (context: Context) => Promise<T>) =>
        call.service.read(call.caller, param(call, 'realm'), work)
      const body = (await bodyBehind(call, () => read((context) => reach(context, call)))) as Representation
      const make = await read((context) => passwordsFor(context, user(call), body))
      // Keycloak: whatever the body says that it is. Hashing takes its time, and comes before the transaction.
      const [prepared] = await prepareCredentials([{ value: body.value!, temporary: body.temporary === true }], make)
      return writing((context) => resetPassword(context, user(call), prepared!))(call)
    },
  },
  {
    operationId: 'removeUserTotp',
    method: 'PUT',
    path: '/admin/realms/{realm}/users/{user-id}/remove-totp',
    summary: 'Remove the OTP credentials of a user',
    permission: manage,
    event: { type, operation: 'ACTION' },
    responses: { ...done, ...refusals },
    handle: writing((context, call) => removeOneTimeCodes(context, user(call))),
  },
  {
    operationId: 'disableUserCredentialTypes',
    method: 'PUT',
    path: '/admin/realms/{realm}/users/{user-id}/disable-credential-types',
    summary: 'Disable credential types of a user storage provider',
    permission: manage,
    event: false,
    body: { schema: types, description: 'the kinds of credentials' },
    responses: { ...done, ...refusals, ...badRequest },
    handle: writing(async (context, call) => {
      await bodyBehind(call, () => reach(context, call))
      await reach(context, call)
    }),
  },
  {
    operationId: 'listUserStorageCredentialTypes',
    method: 'GET',
    path: '/admin/realms/{realm}/users/{user-id}/configured-user-storage-credential-types',
    summary: 'List the credential types of a user storage provider',
    permission: view,
    responses: { 200: { description: 'The kinds.', schema: types }, ...refusals },
    handle: reading(async (context, call) => {
      await findUser(context, user(call))
      requirePermissions(context, view)
      return []
    }),
  },
]

async function reach(context: Context, call: Call): Promise<void> {
  await users.checkAccess?.(context, { id: user(call) })
}

function withoutLabel(): HttpError {
  return new HttpError(400, {
    error: 'missingCredentialLabel',
    error_description: 'Credential label must not be empty',
  })
}
