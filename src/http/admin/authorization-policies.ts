import * as z from 'zod'
import { isPolicyType, policyProviders } from '../../kinds/authorization-policy-types.ts'
import type { Representation } from '../../kinds/json.ts'
import {
  createPolicy,
  createPolicyOperations,
  getServerForPolicyType,
  type PolicyForm,
  policyRelations,
  replacePolicy,
} from '../../service/admin-api/authorization/authorization-policies.ts'
import { getResourceServer, NOT_FOUND } from '../../service/admin-api/authorization/resource-servers.ts'
import { failure } from '../../service/context/errors.ts'
import { requirePermissions } from '../../service/permissions/require-permissions.ts'
import { readHandler, writeHandler } from '../handlers.ts'
import { getParameter, operationId, type UntaggedOperation } from '../operation.ts'
import { page, queryFlag } from '../query.ts'
import { badRequest, errorResponses, noContentResponse } from '../responses.ts'
import { BASE, bodyOf, clientOf, making, type PathLookup, readingOrNothing, searching } from './authorization-calls.ts'
import { answers, bodies, bodylessErrors } from './authorization-schemas.ts'

const view = { permission: 'view-authorization' } as const
const manage = { permission: 'manage-authorization', event: 'AUTHORIZATION_POLICY' } as const
const managePermissions = { ...manage, permission: 'manage-authorization-permissions' } as const
const text = (description: string) => z.string().optional().describe(description)

const query = z.object({
  policyId: text('Id of the policy.'),
  name: text('Part of the name, in any case.'),
  type: text('Part of the type, in any case.'),
  resource: text('Id of a resource, or part of its name in any case.'),
  scope: text('Id of a scope, or part of its name in any case.'),
  resourceType: text('Part of the type of resources that a permission is for.'),
  permission: queryFlag.describe('Lists only permissions if true, only other policies if false, and both by default.'),
  owner: text('Keycloak: user who created the policy, with user-managed access. No policy in Regent has one.'),
  fields: text('`*` adds the resources and scopes.'),
  ...page,
})
const byName = z.object({ name: text('Exact name; required.'), fields: text('Ignored.') })

const typed = createPolicyOperations('typed')
const generic = createPolicyOperations('generic')

const conflictBody = (error: string) => ({ error, error_description: 'Conflicting policy' })

/** The path and permission of policies or of permissions, which are policies of certain types. */
interface PolicySet {
  readonly path: string
  readonly word: 'policy' | 'permission'
  readonly form: PolicyForm
  readonly changing: typeof manage | typeof managePermissions
}

const policySet: PolicySet = { path: `${BASE}/policy`, word: 'policy', form: 'generic', changing: manage }
const permissionSet: PolicySet = {
  path: `${BASE}/permission`,
  word: 'permission',
  form: 'typed',
  changing: managePermissions,
}

/** Returns the operations on policies of any type. */
function operationsOn({ path, word, form, changing }: PolicySet) {
  const policies = form === 'typed' ? typed : generic
  return {
    list: {
      ...view,
      operationId: operationId('list', path),
      method: 'GET',
      path,
      summary: `List ${word === 'policy' ? 'policies' : 'permissions'} of a client`,
      query,
      responses: { 200: answers.listedPolicies, 204: answers.absent, ...errorResponses },
      handle: readingOrNothing((context, call) =>
        policies.list(context, clientOf(call), {
          ...call.query,
          ...(word === 'permission' && { permission: true }),
        }),
      ),
    },
    create: {
      ...changing,
      operationId: operationId('create', path),
      method: 'POST',
      path,
      summary: `Create a ${word} of the type in the body`,
      body: bodies.policy,
      responses: { 201: answers.policy, ...errorResponses, ...badRequest },
      handle: making(
        'id',
        (context, call, body) => {
          requirePermissions(context, changing.permission)
          return createPolicy(context, clientOf(call), { body, form: 'generic' })
        },
        { conflictBody },
      ),
    },
  } satisfies Record<string, UntaggedOperation>
}

/** Returns the operations that list the policy providers and find a policy by name. Keycloak: a type in the path must exist, and does not limit what is found. */
function lookupOperations(path: string, form: PolicyForm): UntaggedOperation[] {
  return [
    {
      ...view,
      operationId: operationId('list', `${path}/providers`),
      method: 'GET',
      path: `${path}/providers`,
      summary: 'List the policy providers',
      responses: { 200: answers.providers, ...errorResponses },
      handle: readHandler(async (context, call) => {
        await getResourceServer(context, clientOf(call), 'view-authorization')
        return policyProviders
      }),
    },
    {
      ...view,
      operationId: operationId('find', `${path}/search`),
      method: 'GET',
      path: `${path}/search`,
      summary: 'Find a policy or permission by name',
      query: byName,
      responses: { 200: answers.listedPolicy, 204: answers.absent, ...errorResponses, ...bodylessErrors.unnamed },
      handle: searching(form === 'typed' ? typed.find : generic.find, requirePolicyType),
    },
  ]
}

/** Rejects a call if there is a type in its path that does not exist. @throws not_found */
const requirePolicyType: PathLookup = async (context, call) => {
  await getResourceServer(context, clientOf(call), 'view-authorization')
  if ('type' in call.params && !isPolicyType(call.params.type)) throw failure('not_found', NOT_FOUND)
}

/** Returns the operations on policies of the type in the path. */
function operationsOfType({ path, word, changing }: PolicySet) {
  const id = `${word}-id`
  const ofType = `${path}/{type}`
  const item = `${ofType}/{${id}}`
  return {
    create: {
      ...changing,
      operationId: operationId('create', ofType),
      method: 'POST',
      path: ofType,
      summary: `Create a ${word} of the type in the path`,
      body: bodies.policy,
      responses: { 201: answers.policy, ...errorResponses, ...badRequest },
      handle: making(
        'id',
        (context, call, body: Representation) => {
          requirePermissions(context, changing.permission)
          return createPolicy(context, clientOf(call), {
            body: { ...body, type: getParameter(call, 'type') },
            form: 'typed',
          })
        },
        {
          conflictBody,
          lookUp: (context, call) => getServerForPolicyType(context, clientOf(call), getParameter(call, 'type')),
        },
      ),
    },
    get: {
      ...view,
      operationId: operationId('get', item),
      method: 'GET',
      path: item,
      summary: `Get a ${word} with the fields of its type`,
      responses: { 200: answers.policy, ...errorResponses },
      handle: readHandler((context, call) => typed.get(context, clientOf(call), getParameter(call, id))),
    },
    replace: { ...changing, ...updating(item, word, changing.permission) },
    remove: {
      ...changing,
      operationId: operationId('delete', item),
      method: 'DELETE',
      path: item,
      summary: `Delete a ${word}`,
      responses: { ...noContentResponse, ...errorResponses },
      handle: writeHandler((context, call) => {
        requirePermissions(context, changing.permission)
        return typed.delete(context, clientOf(call), getParameter(call, id))
      }),
    },
  } satisfies Record<string, UntaggedOperation>
}

/** The operation that updates a policy at the path. Keycloak: the status is 201. */
function updating(path: string, word: PolicySet['word'], permission: Parameters<typeof requirePermissions>[1]) {
  return {
    operationId: operationId('update', path),
    method: 'PUT',
    path,
    summary: `Update a ${word}`,
    body: bodies.policy,
    event: { type: 'AUTHORIZATION_POLICY', operation: 'UPDATE', asCalled: true },
    responses: { 201: answers.replaced, ...errorResponses, ...badRequest },
    handle: async (call) => {
      const change = writeHandler(async (context) => {
        requirePermissions(context, permission)
        await replacePolicy(
          context,
          { client: clientOf(call), id: getParameter(call, `${word}-id`) },
          await bodyOf(context, call),
        )
      })
      return { ...(await change(call)), status: 201 }
    },
  } satisfies Omit<UntaggedOperation, 'permission'>
}

/** Returns the operations on the policy with the id in the path. Keycloak: with a type in place of the id, its policies are listed. */
function operationsOnItem({ path, word, form, changing }: PolicySet) {
  const id = `${word}-id`
  const item = `${path}/{${id}}`
  const policies = form === 'typed' ? typed : generic
  return {
    get: {
      ...view,
      operationId: operationId('get', item),
      method: 'GET',
      path: item,
      summary: `Get a ${word}, or with a type in place of the id list the ${word === 'policy' ? 'policies' : 'permissions'} of that type`,
      query,
      responses: {
        200: {
          description: `The ${word}, or those of the type.`,
          schema: z.union([answers.policy.schema, answers.policies.schema]),
        },
        204: answers.absent,
        ...errorResponses,
      },
      handle: readingOrNothing((context, call) => {
        const segment = getParameter(call, id)
        if (!isPolicyType(segment)) return policies.get(context, clientOf(call), segment)
        return typed.list(context, clientOf(call), {
          ...call.query,
          type: segment,
          ...(word === 'permission' && { permission: true }),
        })
      }),
    },
    replace: { ...changing, ...updating(item, word, changing.permission) },
    remove: {
      ...changing,
      operationId: operationId('delete', item),
      method: 'DELETE',
      path: item,
      summary: `Delete a ${word}`,
      responses: { ...noContentResponse, ...errorResponses },
      handle: writeHandler((context, call) => {
        requirePermissions(context, changing.permission)
        return policies.delete(context, clientOf(call), getParameter(call, id))
      }),
    },
  } satisfies Record<string, UntaggedOperation>
}

const relations: readonly [keyof typeof policyRelations, UntaggedOperation['responses'][number], string][] = [
  ['associatedPolicies', answers.policies, 'List the associated policies of a policy: those that it combines'],
  ['dependentPolicies', answers.policies, 'List the dependent policies of a policy: those that combine it'],
  ['resources', answers.resources, 'List the resources of a policy or permission'],
  ['scopes', answers.scopes, 'List the scopes of a policy or permission'],
]

/** Returns the operations that list what is related to the policy at a path. */
function operationsOnRelations(item: string, id: string): UntaggedOperation[] {
  return relations.map(([field, response, summary]) => ({
    ...view,
    operationId: operationId('list', `${item}/${field}`),
    method: 'GET',
    path: `${item}/${field}`,
    summary,
    responses: { 200: response, ...errorResponses },
    handle: readHandler((context, call) => policyRelations[field](context, clientOf(call), getParameter(call, id))),
  }))
}

/** The operations on policies and permissions of clients. */
export const policyOperations: UntaggedOperation[] = [policySet, permissionSet].flatMap((set) => {
  const { path, word, form } = set
  return [
    ...operationsOnRelations(`${path}/{${word}-id}`, `${word}-id`),
    ...operationsOnRelations(`${path}/{type}/{${word}-id}`, `${word}-id`),
    ...lookupOperations(path, form),
    ...lookupOperations(`${path}/{type}`, 'typed'),
    ...Object.values(operationsOn(set)),
    ...Object.values(operationsOfType(set)),
    ...Object.values(operationsOnItem(set)),
  ]
})
