import * as z from 'zod'
import { policyProviders } from '../../kinds/authorization-policy-types.ts'
import type { Representation } from '../../kinds/kind.ts'
import { demand } from '../../service/administrators.ts'
import type { Context } from '../../service/context.ts'
import {
  createPolicy,
  type PolicyForm,
  policiesAs,
  policyParts,
  reachType,
  replacePolicy,
} from '../../service/resources/authorization-policies.ts'
import { getServer } from '../../service/resources/resource-servers.ts'
import { operationId, param, reading, type Untagged, writing } from '../operation.ts'
import { page, queryFlag } from '../query.ts'
import { badRequest, done, refusals } from '../responses.ts'
import { BASE, bodyOf, clientOf, making, readingOrNothing, searching } from './authorization-calls.ts'
import { answers, bodies, silently } from './authorization-schemas.ts'

const view = { permission: 'view-authorization' } as const
const manage = { permission: 'manage-authorization', event: 'AUTHORIZATION_POLICY' } as const
const managePermissions = { ...manage, permission: 'manage-authorization-permissions' } as const
const text = (description: string) => z.string().optional().describe(description)

const query = z.object({
  policyId: text('Id of the policy.'),
  name: text('Part of the name, in any case.'),
  type: text('Part of the type, in any case.'),
  resource: text('Id or part of the name of a resource that it is for.'),
  scope: text('Id or part of the name of a scope that it is for.'),
  permission: queryFlag.describe('Whether to list only permissions, or only what is none.'),
  owner: text('Keycloak: who made it, where people manage their resources; without effect.'),
  fields: text('`*` for resources and scopes too.'),
  ...page,
})
const byName = z.object({ name: text('Name of what is looked for.'), fields: text('Without effect.') })

const typed = policiesAs('typed')
const generic = policiesAs('generic')

const taken = (error: string) => ({ error, error_description: 'Conflicting policy' })

/** The operations on policies, or on permissions, which are the policies of some types. */
function operationsOn(path: string, form: PolicyForm, permissions: boolean): Untagged[] {
  const policies = form === 'typed' ? typed : generic
  const [word, id] = permissions ? ['permission', 'permission-id'] : ['policy', 'policy-id']
  const ofType = `${path}/{type}`
  const item = `${ofType}/{${id}}`
  const changing = permissions ? managePermissions : manage
  const mayChange = (context: Context) => demand(context, changing.permission)
  return [
    {
      ...view,
      operationId: operationId('list', path),
      method: 'GET',
      path,
      summary: `List each ${word} of a client`,
      query,
      responses: { 200: answers.policies, 204: answers.absent, ...refusals },
      handle: readingOrNothing((context, call) =>
        policies.list(context, clientOf(call), { ...call.query, ...(permissions && { permission: true }) }),
      ),
    },
    {
      ...changing,
      operationId: operationId('create', path),
      method: 'POST',
      path,
      summary: `Create a ${word} of the type that it states`,
      body: bodies.policy,
      responses: { 201: answers.policy, ...refusals, ...badRequest },
      handle: making(
        'id',
        (context, call, body) => {
          mayChange(context)
          return createPolicy(context, clientOf(call), body, 'generic')
        },
        { taken },
      ),
    },
    {
      ...view,
      operationId: operationId('list', `${path}/providers`),
      method: 'GET',
      path: `${path}/providers`,
      summary: 'List the types of policies',
      responses: { 200: answers.providers, ...refusals },
      handle: reading(async (context, call) => {
        await getServer(context, clientOf(call), 'view-authorization')
        return policyProviders
      }),
    },
    {
      ...view,
      operationId: operationId('find', `${path}/search`),
      method: 'GET',
      path: `${path}/search`,
      summary: `Get the ${word} of that name`,
      query: byName,
      responses: { 200: answers.policy, 204: answers.absent, ...refusals, ...silently.unnamed },
      handle: searching(policies.find),
    },
    {
      ...changing,
      operationId: operationId('create', ofType),
      method: 'POST',
      path: ofType,
      summary: `Create a ${word} of a type`,
      body: bodies.policy,
      responses: { 201: answers.policy, ...refusals, ...badRequest },
      handle: making(
        'id',
        (context, call, body: Representation) => {
          mayChange(context)
          return createPolicy(context, clientOf(call), { ...body, type: param(call, 'type') }, 'typed')
        },
        { taken, reach: (context, call) => reachType(context, clientOf(call), param(call, 'type')) },
      ),
    },
    {
      ...view,
      operationId: operationId('get', item),
      method: 'GET',
      path: item,
      summary: `Get a ${word} in the form of its type`,
      responses: { 200: answers.policy, ...refusals },
      handle: reading((context, call) => typed.get(context, clientOf(call), param(call, id!))),
    },
    { ...changing, ...updating(item, word!, id!, changing.permission) },
    {
      ...changing,
      operationId: operationId('delete', item),
      method: 'DELETE',
      path: item,
      summary: `Delete a ${word}`,
      responses: { ...done, ...refusals },
      handle: writing((context, call) => {
        mayChange(context)
        return typed.delete(context, clientOf(call), param(call, id!))
      }),
    },
  ]
}

/** The operation that updates a policy at the path. Keycloak: it says that something was made. */
function updating(path: string, word: string, id: string, permission: Parameters<typeof demand>[1]) {
  return {
    operationId: operationId('update', path),
    method: 'PUT',
    path,
    summary: `Update a ${word}`,
    body: bodies.policy,
    event: { type: 'AUTHORIZATION_POLICY', operation: 'UPDATE', asCalled: true },
    responses: { 201: answers.replaced, ...refusals, ...badRequest },
    handle: async (call) => {
      const change = writing(async (context) => {
        demand(context, permission)
        await replacePolicy(context, clientOf(call), param(call, id), await bodyOf(context, call))
      })
      return { ...(await change(call)), status: 201 }
    },
  } satisfies Omit<Untagged, 'permission'>
}

const POLICIES = `${BASE}/policy`
const POLICY = `${POLICIES}/{policy-id}`

const parts: readonly [keyof typeof policyParts, Untagged['responses'][number], string][] = [
  ['associatedPolicies', answers.policies, 'List the policies that a policy names'],
  ['dependentPolicies', answers.policies, 'List the policies that name a policy'],
  ['resources', answers.resources, 'List the resources that a permission is for'],
  ['scopes', answers.scopes, 'List the scopes that a permission is for'],
]

/** Policies and permissions of clients. */
export const policyOperations: Untagged[] = [
  ...parts.map(
    ([field, answer, summary]): Untagged => ({
      ...view,
      operationId: operationId('list', `${POLICY}/${field}`),
      method: 'GET',
      path: `${POLICY}/${field}`,
      summary,
      responses: { 200: answer, ...refusals },
      handle: reading((context, call) => policyParts[field](context, clientOf(call), param(call, 'policy-id'))),
    }),
  ),
  ...operationsOn(POLICIES, 'generic', false),
  {
    ...view,
    operationId: operationId('get', POLICY),
    method: 'GET',
    path: POLICY,
    summary: 'Get a policy',
    responses: { 200: answers.policy, ...refusals },
    handle: reading((context, call) => generic.get(context, clientOf(call), param(call, 'policy-id'))),
  },
  { ...manage, ...updating(POLICY, 'policy', 'policy-id', manage.permission) },
  {
    ...manage,
    operationId: operationId('delete', POLICY),
    method: 'DELETE',
    path: POLICY,
    summary: 'Delete a policy',
    responses: { ...done, ...refusals },
    handle: writing((context, call) => generic.delete(context, clientOf(call), param(call, 'policy-id'))),
  },
  ...operationsOn(`${BASE}/permission`, 'typed', true),
]
