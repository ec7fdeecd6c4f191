import { text, textMap } from './fields.ts'
import { defineKind } from './kind.ts'

/** Keycloak: AuthenticatorConfigRepresentation. Settings of a step of a flow. */
export const authenticatorConfig = defineKind({
  name: 'authenticatorConfig',
  title: 'authenticator config',
  representation: 'AuthenticatorConfigRepresentation',
  naturalKey: 'alias',
  events: { type: 'AUTHENTICATOR_CONFIG', paths: { realm: 'authentication/config/{id}' } },
  fields: {
    alias: text('Name of the settings; unique in their realm.'),
    config: textMap('Settings of the step, by name.', { onPut: 'replace', default: {} }),
  },
})
