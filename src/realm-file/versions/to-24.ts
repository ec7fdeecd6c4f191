import { PROFILE_SETTING } from '../../kinds/component-config.ts'
import { USER_PROFILE } from '../../kinds/component-types.ts'
import { isList, isObject, type Representation, readObject, readTexts } from '../../kinds/json.ts'
import { defaultUserProfile } from '../../kinds/user-profile.ts'
import type { ConversionContext } from '../formats/format-converter.ts'
import type { VersionStep } from './version-step.ts'

/** Permits all attributes of users, unless the realm used a user profile. Keycloak: MigrateTo24_0_0. */
export const toVersion24: VersionStep = {
  version: '24.0.0',
  migrate(realm, context) {
    const { attributes } = realm
    if (!isObject(attributes)) return permitAttributes(realm, context)
    const { userProfileEnabled, ...remaining } = attributes
    const migrated = { ...realm, attributes: remaining }
    return String(userProfileEnabled) === 'true' ? migrated : permitAttributes(migrated, context)
  },
}

function permitAttributes(realm: Representation, { warn, recordMove }: ConversionContext): Representation {
  const { userProfile } = realm
  const components = realm.components ?? {}
  const emitWarning = (path: (string | number)[]) =>
    warn(path, 'unmanagedAttributePolicy becomes ENABLED: remove keycloakVersion to declare another value')
  if (isObject(userProfile)) {
    if (!isPermitting(userProfile)) emitWarning(['userProfile'])
    return { ...realm, userProfile: permit(userProfile) }
  }
  if (!isObject(components)) return realm
  const profiles = components[USER_PROFILE] ?? []
  if (!isList(profiles)) return realm
  if (!profiles.length) {
    emitWarning(['keycloakVersion'])
    recordMove(['components', USER_PROFILE, 0], ['keycloakVersion'])
    const component = { providerId: 'declarative-user-profile', config: toConfig(permit(defaultUserProfile)) }
    return { ...realm, components: { ...components, [USER_PROFILE]: [component] } }
  }
  const migrated = profiles.map((component, at) => {
    const config = readObject(readObject(component).config)
    const profile = parseProfile(readTexts(config[PROFILE_SETTING])[0])
    if (!isObject(component) || !profile || isPermitting(profile)) return component
    emitWarning(['components', USER_PROFILE, at])
    return { ...component, config: { ...config, ...toConfig(permit(profile)) } }
  })
  return { ...realm, components: { ...components, [USER_PROFILE]: migrated } }
}

const isPermitting = ({ unmanagedAttributePolicy: policy }: { unmanagedAttributePolicy?: unknown }): boolean =>
  policy === 'ENABLED'

const permit = (profile: object): Representation => ({ ...profile, unmanagedAttributePolicy: 'ENABLED' })

const toConfig = (profile: Representation): Representation => ({ [PROFILE_SETTING]: [JSON.stringify(profile)] })

/** Returns the user profile of a setting, or the default one if there is no setting. An invalid one is reported when it is written. */
function parseProfile(text: string | undefined): object | undefined {
  try {
    return text === undefined ? defaultUserProfile : readObject(JSON.parse(text))
  } catch {
    return undefined
  }
}
