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
import { badRequest, components, errorResponses } from '../responses.ts'

components.add(profileSchema, { id: 'UPConfig' })
components.add(profileMetadata, { id: 'UserProfileMetadata' })

const NAMES: Readonly<Record<string, string>> = {
  required: 'UPAttributeRequired',
  permissions: 'UPAttributePermissions',
  selector: 'UPAttributeSelector',
}
const body: BodyForm = {
  schema: profileSchema.nullable(),
  description: 'The profile, as it shall be; null, or no body: the usual one.',
  optional: true,
  representation: ([list, , part]) =>
    NAMES[String(part)] ?? (list === undefined ? 'UPConfig' : list === 'groups' ? 'UPGroup' : 'UPAttribute'),
}

const response = { 200: { description: 'The profile.', schema: profileSchema } }

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
    responses: { 200: { description: 'Label of the input.', schema: profileMetadata }, ...errorResponses },
    handle: readHandler(getProfileMetadata),
  },
])
