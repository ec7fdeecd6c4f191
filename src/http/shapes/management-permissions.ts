// The operations on fine-grained admin permissions of version 1, below the path of an object.
import * as z from 'zod'
import type { Representation } from '../../kinds/json.ts'
import { nameSchema } from '../../kinds/json-schema.ts'
import {
  getManagementPermissions,
  updateManagementPermissions,
} from '../../service/admin-api/authorization/management-permissions.ts'
import type { ManagedObject } from '../../service/authorization/management-permissions.ts'
import type { Context } from '../../service/context/context.ts'
import type { Permission } from '../../service/permissions/require-permissions.ts'
import { readHandler } from '../handlers.ts'
import { type Call, getParameter, operationId, readBodyAfter, type UntaggedOperation } from '../operation.ts'
import { badRequest, errorResponses } from '../responses.ts'

const reference = nameSchema(
  'ManagementPermissionReference',
  z.strictObject({
    enabled: z.boolean().nullish().describe('Whether administrators can have permissions on the object by policies.'),
    resource: z
      .string()
      .nullish()
      .describe('Id of its resource in the client with the admin roles. Ignored in requests.'),
    scopePermissions: z
      .record(z.string(), z.string())
      .nullish()
      .describe('Ids of the permissions on the resource, by scope. Ignored in requests.'),
  }),
)

/** An object with its permissions, and who may read and change these. */
export interface ManagedOptions {
  readonly path: string
  /** What the path denotes, such as `a client`. */
  readonly title: string
  readonly view: Permission
  readonly manage: Permission
  /** Returns the object. Throws not_found, and forbidden unless the caller may view or manage it. */
  readonly getObject: (context: Context, call: Call, purpose: 'view' | 'manage') => Promise<ManagedObject>
}

/** Returns the operations on the permissions of an object. */
export function managementPermissions({ path, title, view, manage, getObject }: ManagedOptions): UntaggedOperation[] {
  const answer = { description: 'The permissions.', schema: reference }
  return [
    {
      operationId: operationId('get', path),
      method: 'GET',
      path,
      summary: `Get the fine-grained admin permissions of ${title}`,
      permission: view,
      responses: { 200: answer, ...errorResponses },
      handle: readHandler(async (context, call) =>
        getManagementPermissions(context, await getObject(context, call, 'view')),
      ),
    },
    {
      operationId: operationId('update', path),
      method: 'PUT',
      path,
      summary: `Enable or disable the fine-grained admin permissions of ${title}`,
      permission: manage,
      body: { schema: reference, description: 'The permissions.', representation: 'ManagementPermissionReference' },
      responses: { 200: answer, ...errorResponses, ...badRequest },
      handle: (call) =>
        call.service.write(call.caller, getParameter(call, 'realm'), async (context) => {
          const lookUp = () => getObject(context, call, 'manage')
          const body = (await readBodyAfter(call, lookUp)) as Representation
          return { status: 200, body: await updateManagementPermissions(context, await lookUp(), body) }
        }),
    },
  ]
}
