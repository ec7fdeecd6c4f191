import * as z from 'zod'
import { allStepProviders } from './authentication-providers.ts'
import { choice, flag, integer, objectList, text } from './fields.ts'
import { defineKind } from './kind.ts'

/** What a step can mean for its flow. */
export const requirements = ['REQUIRED', 'ALTERNATIVE', 'CONDITIONAL', 'DISABLED'] as const

/** Keycloak: AuthenticationFlowRepresentation. A tree of steps; a sub-flow is a flow of its own that an execution names. */
export const authenticationFlow = defineKind({
  name: 'authenticationFlow',
  title: 'authentication flow',
  representation: 'AuthenticationFlowRepresentation',
  resource: 'RealmFlow',
  naturalKey: 'alias',
  conflict: { create: 'Flow {name} already exists', update: 'Flow alias name already exists' },
  events: { type: 'AUTH_FLOW', paths: { realm: 'authentication/flows/{id}' } },
  fields: {
    alias: text('Name of the flow; unique in its realm.'),
    description: text('What the flow does.', { onPut: 'clear' }),
    providerId: text('Type of the flow: basic-flow, client-flow or form-flow.', { default: 'basic-flow' }),
    topLevel: flag('Whether the flow can be bound; otherwise it is a part of another.', {
      onPut: 'clear',
      default: false,
    }),
    builtIn: flag('Whether every new realm has the flow.', { onPut: 'clear', default: false }),
    authenticationExecutions: objectList(
      {
        authenticator: text('Type of the step, such as auth-cookie.', {
          provider: { label: 'authenticator', supported: allStepProviders, consequence: 'log-ins that reach it fail' },
        }),
        authenticatorConfig: text('Alias of the settings of the step.', { refersTo: 'authenticatorConfig' }),
        authenticatorFlow: flag('Whether the step is a flow.', { computed: true }),
        autheticatorFlow: flag('Keycloak: an earlier spelling of authenticatorFlow.', { computed: true }),
        requirement: {
          ...choice(requirements, 'What the step means for the flow; REQUIRED unless it says otherwise.', {
            default: 'REQUIRED',
          }),
          // Keycloak: of an earlier form; a document that says so means a conditional flow.
          schema: z
            .union([z.enum(requirements), z.literal('OPTIONAL')])
            .meta({ wire: { type: 'string', enum: requirements } }),
        },
        priority: integer('Place in the order of steps: lower comes first.'),
        flowAlias: text('Alias of the flow that the step is.', { refersTo: 'authenticationFlow' }),
        userSetupAllowed: flag('Whether a user who lacks the credential may set it up on the way.'),
      },
      'Steps of the flow, in the order of their priorities.',
      {
        storedSeparately: true,
        default: [],
        orderedBy: 'priority',
        optionalMembers: ['priority', 'userSetupAllowed'],
        loginControl: 'onUpdate',
      },
    ),
  },
})
