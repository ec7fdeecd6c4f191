// The user profile of a realm: kept in a component.
import { componentPath } from '../../kinds/component.ts'
import { PROFILE_SETTING } from '../../kinds/component-settings.ts'
import { USER_PROFILE } from '../../kinds/component-types.ts'
import type { Representation } from '../../kinds/json.ts'
import {
  type ProfileAttribute,
  profileSchema,
  type UserProfile,
  usualProfile,
  wholeProfile,
} from '../../kinds/user-profile.ts'
import type { Context } from '../context/context.ts'
import { type LiveObject, listObjects } from '../objects/live.ts'

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

/** Keycloak: everybody has a name, or an address where that is the name, whatever the profile says. */
function named(attribute: ProfileAttribute, namedByMail: boolean): ProfileAttribute {
  const { required, ...others } = attribute
  if (attribute.name === (namedByMail ? 'email' : 'username')) return { ...attribute, required: {} }
  return attribute.name === 'username' ? others : attribute
}

/** What is known of the people of the realm, with what its settings add to the profile. One statement. */
export async function profileOfPeople(context: Context): Promise<UserProfile> {
  const { internationalized, namedByMail } = context.realm
  const profile = await profileOf(context)
  const own = (profile.attributes ?? []).map((one) => named(one, namedByMail))
  const locale = internationalized && !own.some(({ name }) => name === LOCALE.name)
  return { ...profile, attributes: locale ? [LOCALE, ...own] : own }
}
