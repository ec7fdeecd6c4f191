import { requiredActionProviders } from './authentication-providers.ts'
import { flag, integer, text, textMap } from './fields.ts'
import { defineKind } from './kind.ts'

/** Keycloak: RequiredActionProviderRepresentation. Something that people may have to do at log-in. */
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
    alias: text('Name of the action, such as UPDATE_PASSWORD; unique in its realm.'),
    name: text('Name of the action as people see it.', { onPut: 'clear' }),
    providerId: text('What is to be done; the same as the alias unless it says otherwise.', {
      provider: {
        label: 'provider',
        supported: requiredActionProviders,
        consequence: 'log-ins that demand it fail',
      },
      loginControl: 'onUpdate',
    }),
    enabled: flag('Whether the action can be demanded.', { onPut: 'clear', loginRequirement: true }),
    defaultAction: flag('Whether the action is demanded of everybody new.', { onPut: 'clear' }),
    priority: integer('Place in the order of actions: lower comes first.', { onPut: 'clear' }),
    config: textMap('Settings of the action, by name.', { onPut: 'replace', emptyIsAbsent: true }),
  },
})
