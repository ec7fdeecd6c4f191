// What REST does with the user profile of a realm.
import { isDeepStrictEqual } from 'node:util'
import type * as z from 'zod'
import { componentPath } from '../../../kinds/component.ts'
import { PROFILE_SETTING, formatUserProfile } from '../../../kinds/component-config.ts'
import { USER_PROFILE } from '../../../kinds/component-types.ts'
import type { Representation } from '../../../kinds/json.ts'
import { type profileSchema, type UserProfile, completeUserProfile } from '../../../kinds/user-profile.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeAdminEvent, omitAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { listObjects } from '../../objects/live-objects.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { findProfileComponent, getUserProfile, getEffectiveUserProfile } from '../../users/user-profile.ts'
import { findProfileProblem, findScopeProblem } from '../../users/user-profile-checks.ts'
import { toProfileMetadata } from '../../users/user-profile-rules.ts'

/** The profile, with what holds where it says nothing. */
export async function getProfile(context: Context): Promise<UserProfile> {
  requirePermissions(context, 'view-profile')
  return getUserProfile(context)
}

/** Makes the profile what the body states; null: the usual one. Gives it as it is then. Throws invalid. */
export async function replaceProfile(
  context: WriteContext,
  stated: z.infer<typeof profileSchema> | null,
): Promise<UserProfile> {
  requirePermissions(context, 'manage-realm')
  const live = await findProfileComponent(context)
  if (stated === null) {
    if (live) await writers.component.delete(context, [live])
    return getUserProfile(context)
  }
  const profile = completeUserProfile(stated)
  const problem = findProfileProblem(profile) ?? findScopeProblem(profile, await scopesOf(context))
  if (problem !== undefined) throw failure('invalid', problem)
  if (isDeepStrictEqual(profile, await getUserProfile(context))) {
    omitAdminEvent(context)
    return profile
  }
  describeAdminEvent(context, { representation: profile as Representation })
  const texts = [formatUserProfile(profile)]
  const path = componentPath('', { providerType: USER_PROFILE })
  const representation = { path, providerId: 'declarative-user-profile', config: { [PROFILE_SETTING]: texts } }
  if (live) await writers.component.update(context, [{ live, set: { [`config.${PROFILE_SETTING}`]: texts } }])
  else await writers.component.create(context, [{ representation }])
  return profile
}

/** What an administrator who makes a person is to be asked for. */
export async function getProfileMetadata(context: Context): Promise<Representation> {
  requirePermissions(context, 'view-profile')
  const profile = await getEffectiveUserProfile(context)
  return toProfileMetadata(profile, context.realm.usesEmailAsUsername ? ['username'] : [])
}

async function scopesOf(context: Context): Promise<ReadonlySet<string>> {
  return new Set((await listObjects(context, 'clientScope', {})).map(({ key }) => key[0]!))
}
