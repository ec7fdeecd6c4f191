import type * as z from 'zod'
import type { UserProfile } from '../../kinds/user-profile.ts'
import { profileMetadata, profileSchema } from '../../kinds/user-profile.ts'
import {
  getProfileConfig,
  getProfileMetadata,
  replaceProfileConfig,
} from '../../service/admin-api/users/user-profile.ts'
import type { BodyForm } from '../body.ts'
import { recordEvent } from '../event.ts'
import { readHandler } from '../handlers.ts'
import { getParameter, type Operation, tagged } from '../operation.ts'
import { badRequest, errorResponses } from '../responses.ts'

const NAMES: Readonly<Record<string, string>> = {
  required: 'UPAttributeRequired',
  permissions: 'UPAttributePermissions',
  selector: 'UPAttributeSelector',
}
const body: BodyForm = {
  schema: profileSchema.nullable(),
  description: 'The user profile configuration. `null` or no body: the default one.',
  optional: true,
  representation: ([list, , part]) =>
    NAMES[String(part)] ?? (list === undefined ? 'UPConfig' : list === 'groups' ? 'UPGroup' : 'UPAttribute'),
}

const response = { 200: { description: 'The user profile configuration.', schema: profileSchema } }

/** The operations on the user profile. */
export const userProfileOperations: Operation[] = tagged('Users', [
  {
    operationId: 'getUserProfile',
    method: 'GET',
    path: '/admin/realms/{realm}/users/profile',
    summary: 'Get the user profile configuration',
    permission: 'view-profile',
    responses: { ...response, ...errorResponses },
    handle: readHandler(getProfileConfig),
  },
  {
    operationId: 'updateUserProfile',
    method: 'PUT',
    path: '/admin/realms/{realm}/users/profile',
    summary: 'Update the user profile configuration',
    permission: 'manage-realm',
    event: 'USER_PROFILE',
    body,
    responses: { ...response, ...errorResponses, ...badRequest },
    handle: async (call) => ({
      status: 200,
      body: await call.service.write(
        call.caller,
        getParameter(call, 'realm'),
        async (context): Promise<UserProfile> => {
          const profile = await replaceProfileConfig(
            context,
            (call.body ?? null) as z.infer<typeof profileSchema> | null,
          )
          recordEvent(context, call)
          return profile
        },
      ),
    }),
  },
  {
    operationId: 'getUserProfileMetadata',
    method: 'GET',
    path: '/admin/realms/{realm}/users/profile/metadata',
    summary: 'Get the user profile metadata',
    permission: 'view-profile',
    responses: { 200: { description: 'The user profile metadata.', schema: profileMetadata }, ...errorResponses },
    handle: readHandler(getProfileMetadata),
  },
])
