// The user profile of a realm: kept in a component.
import { componentPath } from '../kinds/component.ts'
import { PROFILE_SETTING } from '../kinds/component-settings.ts'
import { USER_PROFILE } from '../kinds/component-types.ts'
import type { Representation } from '../kinds/kind.ts'
import {
  type ProfileAttribute,
  profileSchema,
  type UserProfile,
  usualProfile,
  wholeProfile,
} from '../kinds/user-profile.ts'
import type { Context } from './context.ts'
import { type LiveObject, listObjects } from './live.ts'

/** The component that holds the profile; undefined: the realm has the usual one. One statement. */
export async function findProfile(context: Context): Promise<LiveObject | undefined> {
  const type = componentPath('', { providerType: USER_PROFILE })
  const found = await listObjects(context, 'component', { search: type })
  return found.find(({ key }) => key[0]!.startsWith(type))
}

/** What is known of the people of the realm. One statement. */
export async function profileOf(context: Context): Promise<UserProfile> {
  const { config } = (await findProfile(context))?.representation ?? {}
  const [text] = ((config as Representation | undefined)?.[PROFILE_SETTING] ?? []) as string[]
  return text === undefined ? usualProfile : wholeProfile(profileSchema.parse(JSON.parse(text)))
}

/** Keycloak: people of a realm with several languages have one of them, whatever the profile says. */
const LOCALE: ProfileAttribute = {
  name: 'locale',
  displayName: 'locale',
  permissions: { view: ['admin', 'user'], edit: ['admin', 'user'] },
  multivalued: false,
}

/** What is known of the people of the realm, with what its settings add to the profile. One statement. */
export async function profileOfPeople(context: Context): Promise<UserProfile> {
  const profile = await profileOf(context)
  const own = profile.attributes ?? []
  if (!context.realm.internationalized || own.some(({ name }) => name === LOCALE.name)) return profile
  return { ...profile, attributes: [LOCALE, ...own] }
}
