// The canonical form of component settings that contain JSON.
import { sortMembers } from './compare.ts'
import { USER_PROFILE } from './component-types.ts'
import { isList, isObject, type Json } from './json.ts'
import { completeUserProfile, profileSchema } from './user-profile.ts'

/** The setting with the user profile configuration, as JSON. */
export const PROFILE_SETTING = 'kc.user.profile.config'

/** Returns the settings of a component with JSON texts in canonical form: with sorted keys and defaults, and without spaces. */
export function toCanonicalConfig(providerType: string, config: Json): Json {
  if (providerType !== USER_PROFILE || !isObject(config)) return config
  const profile = config[PROFILE_SETTING]
  if (profile === undefined) return config
  const canonical = isList(profile) ? profile.map(toCanonicalText) : toCanonicalText(profile)
  return { ...config, [PROFILE_SETTING]: canonical }
}

/** Formats a user profile as JSON in canonical form. An invalid one is formatted as it is, and is reported when it is written. */
export function formatUserProfile(profile: Json): string {
  const parsed = profileSchema.safeParse(profile)
  return JSON.stringify(sortMembers(parsed.success ? completeUserProfile(parsed.data) : profile))
}

function toCanonicalText(text: Json): Json {
  if (typeof text !== 'string') return text
  try {
    return formatUserProfile(JSON.parse(text))
  } catch {
    return text
  }
}
