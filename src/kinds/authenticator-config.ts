import { secretAuthenticatorSettings } from './authentication-providers.ts'
import { text, textMap } from './fields.ts'
import { defineKind } from './kind.ts'

/** Keycloak: AuthenticatorConfigRepresentation. Settings of an execution of a flow. */
export const authenticatorConfig = defineKind({
  name: 'authenticatorConfig',
  title: 'authenticator config',
  representation: 'AuthenticatorConfigRepresentation',
  naturalKey: 'alias',
  conflict: {
    create: 'Authentication execution configuration {name} already exists',
    update: 'Authentication execution configuration {name} already exists',
  },
  events: { type: 'AUTHENTICATOR_CONFIG', paths: { realm: 'authentication/config/{id}' } },
  fields: {
    alias: text('Alias of the config, which is unique in the realm.'),
    config: textMap('Settings of the authenticator, by name.', {
      onPut: 'clear',
      default: {},
      secret: secretAuthenticatorSettings,
      emptyIsAbsent: true,
      loginControl: 'onUpdate',
    }),
  },
})
