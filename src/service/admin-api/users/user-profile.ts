// What REST does with the user profile of a realm.
import { isDeepStrictEqual } from 'node:util'
import type * as z from 'zod'
import { componentPath } from '../../../kinds/component.ts'
import { PROFILE_SETTING, profileText } from '../../../kinds/component-settings.ts'
import { USER_PROFILE } from '../../../kinds/component-types.ts'
import type { Representation } from '../../../kinds/json.ts'
import { type profileSchema, type UserProfile, wholeProfile } from '../../../kinds/user-profile.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeEvent, describeNothing } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { listObjects } from '../../objects/live.ts'
import { demand } from '../../permissions/administrators.ts'
import { findProfile, profileOf, profileOfPeople } from '../../users/profile.ts'
import { profileProblem, scopeProblem } from '../../users/profile-checks.ts'
import { profileMetadata } from '../../users/user-profile.ts'

/** The profile, with what holds where it says nothing. */
export async function getProfile(context: Context): Promise<UserProfile> {
  demand(context, 'view-profile')
  return profileOf(context)
}

/** Makes the profile what the body states; null: the usual one. Gives it as it is then. Throws invalid. */
export async function replaceProfile(
  context: WriteContext,
  stated: z.infer<typeof profileSchema> | null,
): Promise<UserProfile> {
  demand(context, 'manage-realm')
  const live = await findProfile(context)
  if (stated === null) {
    if (live) await writers.component.delete(context, [live])
    return profileOf(context)
  }
  const profile = wholeProfile(stated)
  const problem = profileProblem(profile) ?? scopeProblem(profile, await scopesOf(context))
  if (problem !== undefined) throw failure('invalid', problem)
  if (isDeepStrictEqual(profile, await profileOf(context))) {
    describeNothing(context)
    return profile
  }
  describeEvent(context, { representation: profile as Representation })
  const texts = [profileText(profile)]
  const path = componentPath('', { providerType: USER_PROFILE })
  const representation = { path, providerId: 'declarative-user-profile', config: { [PROFILE_SETTING]: texts } }
  if (live) await writers.component.update(context, [{ live, set: { [`config.${PROFILE_SETTING}`]: texts } }])
  else await writers.component.create(context, [{ representation }])
  return profile
}

/** What an administrator who makes a person is to be asked for. */
export async function getProfileMetadata(context: Context): Promise<Representation> {
  demand(context, 'view-profile')
  const profile = await profileOfPeople(context)
  return profileMetadata(profile, context.realm.namedByMail ? ['username'] : [])
}

async function scopesOf(context: Context): Promise<ReadonlySet<string>> {
  return new Set((await listObjects(context, 'clientScope', {})).map(({ key }) => key[0]!))
}
