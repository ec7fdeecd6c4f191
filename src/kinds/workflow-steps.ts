// Keycloak: the events, conditions and steps of workflows.

import type { Representation } from './json.ts'

/** The types of objects that workflows act on. */
export type WorkflowResourceType = 'USERS' | 'CLIENTS'

/** The types of steps, with the objects that they are for; `any` for those of the other steps. */
export const stepTypes: Readonly<Record<string, WorkflowResourceType | 'any'>> = {
  'add-required-action': 'USERS',
  'delete-client': 'CLIENTS',
  'delete-user': 'USERS',
  'disable-client': 'CLIENTS',
  'disable-user': 'USERS',
  'grant-role': 'USERS',
  'join-group': 'USERS',
  'leave-group': 'USERS',
  'notify-user': 'USERS',
  'remove-required-action': 'USERS',
  'remove-user-attribute': 'USERS',
  restart: 'any',
  'revoke-role': 'USERS',
  'set-user-attribute': 'USERS',
  'unlink-user': 'USERS',
}

/** The events that start workflows. In a workflow, they are written with underscores and in any case. */
export const workflowEvents: ReadonlySet<string> = new Set([
  'client-authenticated',
  'client-created',
  'user-authenticated',
  'user-created',
  'user-federated-identity-added',
  'user-federated-identity-removed',
  'user-group-membership-added',
  'user-group-membership-removed',
  'user-role-granted',
  'user-role-revoked',
])

/** The conditions of workflows. */
export const workflowConditions: ReadonlySet<string> = new Set([
  'has-identity-provider-link',
  'has-role',
  'has-user-attribute',
  'is-member-of',
])

/** Returns the name of an event as providers have it. Keycloak: workflows may write it with underscores, in any case. */
export const toEventName = (name: string): string => name.toLowerCase().replaceAll('_', '-')

/** Returns the type of objects that the steps of a workflow act on; undefined if none of them has one. */
export function getResourceType(steps: readonly Representation[]): WorkflowResourceType | undefined {
  const types = steps.map(({ uses }) => stepTypes[String(uses)])
  return types.find((type) => type === 'USERS' || type === 'CLIENTS')
}
