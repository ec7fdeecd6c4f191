// Settings of components that are documents themselves: what is said the same way is written the same way.
import { sortMembers } from './compare.ts'
import { USER_PROFILE } from './component-types.ts'
import { isList, type Json } from './json.ts'
import { completeUserProfile, profileSchema } from './user-profile.ts'

/** The setting that holds what is known of people, as JSON. */
export const PROFILE_SETTING = 'kc.user.profile.config'

/** The settings with texts of JSON written in one way: spaces, the order of keys and what holds anyway say nothing. */
export function toCanonicalConfig(providerType: string, config: Json): Json {
  if (providerType !== USER_PROFILE || config === null || typeof config !== 'object' || isList(config)) return config
  const stated = config[PROFILE_SETTING]
  if (stated === undefined) return config
  const texts = isList(stated) ? stated.map(canonicalText) : canonicalText(stated)
  return { ...config, [PROFILE_SETTING]: texts }
}

/** A profile as the setting has it; one that is none stays as it is: whoever writes the component says what is wrong. */
export function formatUserProfile(profile: Json): string {
  const read = profileSchema.safeParse(profile)
  return JSON.stringify(sortMembers(read.success ? completeUserProfile(read.data) : profile))
}

function canonicalText(text: Json): Json {
  if (typeof text !== 'string') return text
  try {
    return formatUserProfile(JSON.parse(text) as Json)
  } catch {
    return text
  }
}
