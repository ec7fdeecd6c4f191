import { secretSettings } from './authentication-providers.ts'
import { text, textMap } from './fields.ts'
import { defineKind } from './kind.ts'

/** Keycloak: AuthenticatorConfigRepresentation. Settings of a step of a flow. */
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
    alias: text('Name of the settings; unique in their realm.'),
    config: textMap('Settings of the step, by name.', {
      onPut: 'clear',
      default: {},
      secret: secretSettings,
      emptyIsAbsent: true,
      loginControl: 'onUpdate',
    }),
  },
})
