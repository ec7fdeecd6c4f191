import { flag, integer, text, textMap } from './fields.ts'
import { defineKind } from './kind.ts'

/** Keycloak: RequiredActionProviderRepresentation. An action that users may be required to do at login. */
export const requiredAction = defineKind({
  name: 'requiredAction',
  title: 'required action',
  representation: 'RequiredActionProviderRepresentation',
  naturalKey: 'alias',
  events: { type: 'REQUIRED_ACTION', paths: { realm: 'authentication/required-actions/{name}' } },
  conflict: {
    create: 'A Required Action Provider with given alias already exists.',
    update: 'A Required Action Provider with given alias already exists.',
  },
  defaults: ({ alias }) => ({
    ...(alias !== undefined && { providerId: alias }),
    enabled: false,
    defaultAction: false,
    priority: 0,
    config: {},
  }),
  fields: {
    alias: text('Alias of the required action, such as UPDATE_PASSWORD, which is unique in the realm.'),
    name: text('Display name of the required action.', { onPut: 'clear' }),
    providerId: text('Provider of the required action. Default: the alias.', {
      loginControl: 'onUpdate',
    }),
    enabled: flag('Whether the required action is enabled.', { onPut: 'clear', loginRequirement: true }),
    defaultAction: flag('Whether the required action is set for all new users.', { onPut: 'clear' }),
    priority: integer('Order among required actions. The lowest comes first.', { onPut: 'clear' }),
    config: textMap('Settings of the required action, by name.', { onPut: 'replace', emptyIsAbsent: true }),
  },
})
