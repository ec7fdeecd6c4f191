import * as z from 'zod'
import { flowTypes } from './authentication-providers.ts'
import { choice, flag, integer, objectList, text } from './fields.ts'
import { defineKind } from './kind.ts'

/** The requirements of an execution. */
export const requirements = ['REQUIRED', 'ALTERNATIVE', 'CONDITIONAL', 'DISABLED'] as const

/** Keycloak: AuthenticationFlowRepresentation. A list of executions. A subflow is a flow that an execution refers to. */
export const authenticationFlow = defineKind({
  name: 'authenticationFlow',
  title: 'authentication flow',
  representation: 'AuthenticationFlowRepresentation',
  resource: 'RealmFlow',
  naturalKey: 'alias',
  conflict: { create: 'Flow {name} already exists', update: 'Flow alias name already exists' },
  events: { type: 'AUTH_FLOW', paths: { realm: 'authentication/flows/{id}' } },
  fields: {
    alias: text('Alias of the flow, which is unique in the realm.'),
    description: text('Description of the flow.', { onPut: 'clear' }),
    providerId: text('Type of the flow: basic-flow, client-flow or form-flow.', {
      default: 'basic-flow',
      values: [...flowTypes.keys()],
    }),
    topLevel: flag('Whether the flow can be bound. Otherwise it is a subflow.', {
      onPut: 'clear',
      default: false,
    }),
    builtIn: flag('Whether the flow is built in.', { onPut: 'clear', default: false }),
    authenticationExecutions: objectList(
      {
        authenticator: text('Authenticator of the execution, such as auth-cookie.', {}),
        authenticatorConfig: text('Alias of the authenticator config.', { refersTo: 'authenticatorConfig' }),
        authenticatorFlow: flag('Whether the execution is a subflow.', { computed: true }),
        autheticatorFlow: flag('Keycloak: former spelling of authenticatorFlow.', { computed: true, deprecated: true }),
        requirement: {
          ...choice(requirements, 'Requirement of the execution.', {
            default: 'REQUIRED',
          }),
          // Keycloak: legacy requirement, which is read as a conditional flow.
          schema: z
            .union([z.enum(requirements), z.literal('OPTIONAL')])
            .meta({ wire: { type: 'string', enum: requirements } }),
        },
        priority: integer('Order of the execution. The lowest comes first.'),
        flowAlias: text('Alias of the subflow.', { refersTo: 'authenticationFlow' }),
        userSetupAllowed: flag('Whether a user without the credential can set it up during the login.'),
      },
      'Executions of the flow, in the order of their priorities.',
      {
        schemaName: 'AuthenticationExecutionExportRepresentation',
        storedSeparately: true,
        default: [],
        orderedBy: 'priority',
        optionalMembers: ['priority', 'userSetupAllowed'],
        loginControl: 'onUpdate',
      },
    ),
  },
})
