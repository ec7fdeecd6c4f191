// The user profile of a realm, which is stored as the config of a component.
import { formatComponentPath } from '../../kinds/component.ts'
import { PROFILE_SETTING } from '../../kinds/component-config.ts'
import { USER_PROFILE } from '../../kinds/component-types.ts'
import { readTextListMap } from '../../kinds/json.ts'
import {
  completeUserProfile,
  defaultUserProfile,
  type ProfileAttribute,
  profileSchema,
  type UserProfile,
} from '../../kinds/user-profile.ts'
import { selectUserNameSettings } from '../../store/users/users.ts'
import type { Context } from '../context/context.ts'
import { cacheInContext } from '../context/realm-values.ts'
import { type LiveObject, listObjects } from '../objects/live-objects.ts'
import { UNDECLARED_LOCALE } from './user-profile-rules.ts'

/** Returns the component that holds the profile; undefined if the realm has the default profile. One statement. */
export async function findProfileComponent(context: Context): Promise<LiveObject | undefined> {
  const type = formatComponentPath('', { providerType: USER_PROFILE })
  const components = await listObjects(context, 'component', { search: type })
  return components.find(({ key }) => key[0]!.startsWith(type))
}

/** Returns the declared user profile of the realm, or the default one. One statement, or none if it is cached. */
export const getUserProfile = cacheInContext(async (context): Promise<UserProfile> => {
  const component = await findProfileComponent(context)
  const [text] = readTextListMap(component?.representation.config)[PROFILE_SETTING] ?? []
  return text === undefined ? defaultUserProfile : completeUserProfile(profileSchema.parse(JSON.parse(text)))
})

/** Keycloak: the username is required, or the email address if it is the username, whatever the profile declares. */
function withRequiredName(attribute: ProfileAttribute, usesEmailAsUsername: boolean): ProfileAttribute {
  const { required, ...optional } = attribute
  if (attribute.name === (usesEmailAsUsername ? 'email' : 'username')) return { ...attribute, required: {} }
  return attribute.name === 'username' ? optional : attribute
}

/** Returns the user profile of the realm with what follows from the realm's settings. One statement, or none. */
export async function getEffectiveUserProfile(context: Context): Promise<UserProfile> {
  const { isInternationalized, usesEmailAsUsername } = context.realm
  const profile = await getUserProfile(context)
  const attributes = (profile.attributes ?? []).map((attribute) => withRequiredName(attribute, usesEmailAsUsername))
  const needsLocale = isInternationalized && !attributes.some(({ name }) => name === UNDECLARED_LOCALE.name)
  return { ...profile, attributes: needsLocale ? [UNDECLARED_LOCALE, ...attributes] : attributes }
}

/** Returns the settings of the realm for the names and languages of users. One statement, or none if they are cached. */
export const getUserNameSettings = cacheInContext(({ tx, realm }) => selectUserNameSettings(tx, realm.number))
