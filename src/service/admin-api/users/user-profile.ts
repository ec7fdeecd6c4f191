// The REST operations on the user profile of a realm.
import { isDeepStrictEqual } from 'node:util'
import type * as z from 'zod'
import { formatComponentPath } from '../../../kinds/component.ts'
import { formatUserProfile, PROFILE_SETTING } from '../../../kinds/component-config.ts'
import { USER_PROFILE } from '../../../kinds/component-types.ts'
import type { Representation } from '../../../kinds/json.ts'
import { completeUserProfile, type profileSchema, type UserProfile } from '../../../kinds/user-profile.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeAdminEvent, omitAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { listObjects } from '../../objects/live-objects.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { findProfileComponent, getEffectiveUserProfile, getUserProfile } from '../../users/user-profile.ts'
import { findProfileProblem, findScopeProblem } from '../../users/user-profile-checks.ts'
import { toProfileMetadata } from '../../users/user-profile-rules.ts'

/** Returns the user profile, with all defaults. */
export async function getProfileConfig(context: Context): Promise<UserProfile> {
  requirePermissions(context, 'view-profile')
  return getUserProfile(context)
}

/** Replaces the user profile; null: by the default one. Returns it with all defaults. Throws invalid. */
export async function replaceProfileConfig(
  context: WriteContext,
  declared: z.infer<typeof profileSchema> | null,
): Promise<UserProfile> {
  requirePermissions(context, 'manage-realm')
  const live = await findProfileComponent(context)
  if (declared === null) {
    if (live) await writers.component.delete(context, [live])
    return getUserProfile(context)
  }
  const profile = completeUserProfile(declared)
  const problem = findProfileProblem(profile) ?? findScopeProblem(profile, await listClientScopeNames(context))
  if (problem !== undefined) throw failure('invalid', problem)
  if (isDeepStrictEqual(profile, await getUserProfile(context))) {
    omitAdminEvent(context)
    return profile
  }
  describeAdminEvent(context, { representation: { ...profile } })
  const texts = [formatUserProfile(profile)]
  const path = formatComponentPath('', { providerType: USER_PROFILE })
  const representation = { path, providerId: 'declarative-user-profile', config: { [PROFILE_SETTING]: texts } }
  if (live) await writers.component.update(context, [{ live, set: { [`config.${PROFILE_SETTING}`]: texts } }])
  else await writers.component.create(context, [{ representation }])
  return profile
}

/** Returns the metadata of the user profile for a form in which an administrator creates a user. */
export async function getProfileMetadata(context: Context): Promise<Representation> {
  requirePermissions(context, 'view-profile')
  const profile = await getEffectiveUserProfile(context)
  return toProfileMetadata(profile, context.realm.usesEmailAsUsername ? ['username'] : [])
}

async function listClientScopeNames(context: Context): Promise<ReadonlySet<string>> {
  return new Set((await listObjects(context, 'clientScope', {})).map(({ key }) => key[0]!))
}
