import { PROFILE_SETTING } from '../../kinds/component-config.ts'
import { USER_PROFILE } from '../../kinds/component-types.ts'
import { isList, isObject, type Representation, readObject, readTexts } from '../../kinds/json.ts'
import type { ConversionContext } from '../formats/format-converter.ts'
import type { VersionStep } from './version-step.ts'

/** Removes the registration step for the profile, and joins the parts of the user profile. Keycloak: MigrateTo23_0_0. */
export const toVersion23: VersionStep = {
  version: '23.0.0',
  migrate: (realm, context) => joinProfile(removeRegistrationStep(realm, context), context),
}

function removeRegistrationStep(realm: Representation, { warn, recordMove }: ConversionContext): Representation {
  const { authenticationFlows: flows } = realm
  if (!isList(flows)) return realm
  const migrated = flows.map((flow, at) => {
    if (!isObject(flow) || flow.providerId !== 'form-flow') return flow
    const { authenticationExecutions: executions } = flow
    if (!isList(executions)) return flow
    const path = ['authenticationFlows', at, 'authenticationExecutions']
    const remaining = [...executions.entries()].filter(([index, execution]) => {
      const isRemoved = isObject(execution) && execution.authenticator === 'registration-profile-action'
      if (isRemoved)
        warn([...path, index], `step registration-profile-action is removed from flow ${flow.alias}: it has no effect`)
      return !isRemoved
    })
    for (const [to, [from]] of remaining.entries()) recordMove([...path, to], [...path, from])
    return { ...flow, authenticationExecutions: remaining.map(([, execution]) => execution) }
  })
  return { ...realm, authenticationFlows: migrated }
}

function joinProfile(realm: Representation, { warn }: ConversionContext): Representation {
  const { attributes, components } = realm
  if (String(readObject(attributes).userProfileEnabled) !== 'true' || !isObject(components)) return realm
  const profiles = components[USER_PROFILE]
  if (!isList(profiles)) return realm
  const joined = profiles.map((component, at) => {
    const { 'config-pieces-count': count, ...config } = readObject(readObject(component).config)
    if (!isObject(component) || count === undefined) return component
    warn(['components', USER_PROFILE, at], 'the parts of the user profile are joined')
    const parts = Array.from({ length: Number(readTexts(count)[0]) || 0 }, (_, part) => `config-piece-${part}`)
    const profile = parts.flatMap((part) => readTexts(config[part])).join('')
    const settings = Object.entries(config).filter(([setting]) => !parts.includes(setting))
    return { ...component, config: { ...Object.fromEntries(settings), [PROFILE_SETTING]: [profile] } }
  })
  return { ...realm, components: { ...components, [USER_PROFILE]: joined } }
}
