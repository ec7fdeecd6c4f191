// The operations on fine-grained admin permissions of version 1, below the path of an object.
import * as z from 'zod'
import { ADMIN_PERMISSIONS } from '../../kinds/admin-permissions.ts'
import { nameSchema } from '../../kinds/json-schema.ts'
import {
  getManagementPermissions,
  hasAdminPermissions,
  updateManagementPermissions,
} from '../../service/admin-api/realms/management-permissions.ts'
import type { ManagedTarget } from '../../service/authorization/management-permissions.ts'
import type { Context } from '../../service/context/context.ts'
import type { Permission } from '../../service/permissions/require-permissions.ts'
import { HttpError } from '../errors.ts'
import { readHandler } from '../handlers.ts'
import { type Call, getParameter, operationId, readBodyAfter, type UntaggedOperation } from '../operation.ts'
import { badRequest, errorResponses, errorSchema } from '../responses.ts'

const reference = nameSchema(
  'ManagementPermissionReference',
  z.strictObject({
    enabled: z.boolean().nullish().describe('Whether policies grant permissions on the object. Default: false.'),
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

const unavailable = {
  description: 'The realm has the fine-grained admin permissions of the client `admin-permissions` instead.',
  schema: errorSchema,
}

/** Keycloak: a realm has the permissions of one version only. */
async function requireVersion1(context: Context): Promise<void> {
  if (!(await hasAdminPermissions(context))) return
  throw new HttpError(501, {
    error: 'Feature not enabled',
    error_description: `The realm has adminPermissionsEnabled, so use the policies of its client ${ADMIN_PERMISSIONS}.`,
  })
}

/** An object with its permissions, and who may read and change these. */
export interface ManagedOptions {
  readonly path: string
  /** The object of the path in summaries, such as `a client`. */
  readonly title: string
  readonly view: Permission
  readonly manage: Permission
  /** Returns the object. Throws not_found, and forbidden unless the caller may view or manage it. */
  readonly getObject: (context: Context, call: Call, purpose: 'view' | 'manage') => Promise<ManagedTarget>
}

/** Returns the operations on the permissions of an object. */
export function managementPermissions({ path, title, view, manage, getObject }: ManagedOptions): UntaggedOperation[] {
  const response = { description: 'The permissions.', schema: reference }
  const responses = { 200: response, ...errorResponses, 501: unavailable }
  return [
    {
      operationId: operationId('get', path),
      method: 'GET',
      path,
      summary: `Get the fine-grained admin permissions of ${title}`,
      permission: view,
      responses,
      handle: readHandler(async (context, call) => {
        const object = await getObject(context, call, 'view')
        await requireVersion1(context)
        return getManagementPermissions(context, object)
      }),
    },
    {
      operationId: operationId('update', path),
      method: 'PUT',
      path,
      summary: `Enable or disable the fine-grained admin permissions of ${title}`,
      permission: manage,
      event: false,
      body: { schema: reference, description: 'The permissions.', representation: 'ManagementPermissionReference' },
      responses: { ...responses, ...badRequest },
      handle: (call) =>
        call.service.write(call.caller, getParameter(call, 'realm'), async (context) => {
          const lookUp = () => getObject(context, call, 'manage')
          const { enabled } = reference.parse(await readBodyAfter(call, lookUp))
          await requireVersion1(context)
          return { status: 200, body: await updateManagementPermissions(context, await lookUp(), enabled === true) }
        }),
    },
  ]
}
