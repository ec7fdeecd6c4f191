// Runs the commands of the model on the server, and compares the results.
import { decodeJwt } from 'jose'
import { expect } from 'vitest'
import type { AdminRole } from '../../src/kinds/admin-roles.ts'
import {
  type AdminPermissions,
  ALL_PERMISSIONS,
  toAdminPermissions,
} from '../../src/service/context/admin-permissions.ts'
import type { Context } from '../../src/service/context/context.ts'
import type { RoleName } from '../../src/store/roles.ts'
import type { TestResponse } from '../support/server.ts'
import { testService } from '../support/service.ts'
import { createState, type InitialRealm } from './initial-state.ts'
import {
  CREATED,
  getAllPermissions,
  LOGIN,
  listPrincipals,
  listReachableRoles,
  MANAGEMENT,
  type ModelState,
  NEWCOMER,
  type Principal,
  REALM,
  VISITOR,
} from './model-state.ts'
import { type Operation, type OperationName, operations } from './operations.ts'
import { toServiceAccountName } from './realm-document.ts'
import { attemptRoles, attempts, findDeletion, requests } from './requests.ts'
import { type Command, runModel, type Step } from './run-model.ts'
import type { TestRealm } from './test-realm.ts'

/** A step with the state before it. */
type ModelStep = Step & { readonly state: ModelState }

/**
 * Runs commands in the model and on the server, which must allow the same. `unchecked`: the operation whose check is disabled. Returns the
 * final state of the model.
 */
export async function runOnServer(
  realm: TestRealm,
  { initial, commands }: { readonly initial: InitialRealm; readonly commands: readonly Command[] },
  unchecked?: OperationName,
): Promise<ModelState> {
  const steps = runModel(initial, commands, unchecked)
  for (let number = 0; ; number++) {
    const { done, value: step } = steps.next()
    if (done) return step
    const { operation, by, target, allowed, passesCheck } = step
    const send = () => sendRequests(realm, step, `fresh-${number}`)
    const isUnchecked = allowed && !passesCheck
    if (isUnchecked) expect(await send(), operation).toMatchObject({ status: 403 })
    const response = await (isUnchecked ? withoutChecks(send) : send())
    const description = `${operation} ${JSON.stringify({ by, target, response: response.body })}`
    if (!allowed) expect(response.status, description).toBe(403)
    else {
      expect(response.status, description).toBeLessThan(300)
      await recordResults(realm, step, response)
    }
  }
}

/** Sends the request of an operation, after that of a deletion which belongs to it. */
async function sendRequests(realm: TestRealm, step: ModelStep, unusedName: string): Promise<TestResponse> {
  const { operation, by, target, allowed, state } = step
  const { requires }: Operation = operations[operation]
  const caller = requires === undefined ? 'superuser' : by
  const input = { realm, target, state, unusedName }
  const deletion = findDeletion(operation)
  if (deletion?.isByCaller || (deletion && allowed)) {
    const deleted = await realm.send(deletion.isByCaller ? caller : 'superuser', deletion.toRequest(input))
    if (deleted.status >= 400) return deleted
  }
  return realm.send(caller, requests[operation](input))
}

/** Runs work without checks: every caller has all permissions. */
async function withoutChecks<T>(work: () => Promise<T>): Promise<T> {
  const { service } = await testService()
  const { read, write, writeRuntime } = service
  const withAllPermissions = <C extends Context>(context: C): C =>
    Object.assign(context, { permissions: ALL_PERMISSIONS })
  service.read = (caller, realm, work) => read(caller, realm, (context) => work(withAllPermissions(context)))
  service.write = (caller, target, work) => write(caller, target, (context) => work(withAllPermissions(context)))
  service.writeRuntime = (caller, realm, work) =>
    writeRuntime(caller, realm, (context) => work(withAllPermissions(context)))
  try {
    return await work()
  } finally {
    Object.assign(service, { read, write, writeRuntime })
  }
}

/** Records new ids and secrets, and makes users log in by the identity provider or register, where the operation affects them. */
async function recordResults(realm: TestRealm, step: ModelStep, response: TestResponse): Promise<void> {
  const { operation, target, state } = step
  if (operation.startsWith('write the ')) realm.forgetTokens(target.client)
  if (operation === 'create a user' || operation === 'create a user in a group')
    realm.setId('user', target.newName, readCreatedId(response))
  else await recordCreatedObject(realm, step, response)
  if (operation === 'regenerate a client secret') realm.setSecret(target.client, response.body.value)
  const consequences: Partial<Record<OperationName, [OperationName, string]>> = {
    'add a role mapper to an identity provider': ['grant a role to a user', VISITOR],
    'add a group mapper to an identity provider': ['add a user to a group', VISITOR],
    'add a default group': ['add a user to a group', NEWCOMER],
  }
  const [consequence, user] = consequences[operation] ?? []
  if (!consequence || !user || !state.users.has(user)) return
  const request = requests[consequence]({ realm, target: { ...target, user }, state, unusedName: '' })
  expect(await realm.send('superuser', request)).toMatchObject({ status: 204 })
}

const readCreatedId = ({ headers }: TestResponse): string => String(headers.location).split('/').at(-1)!

/** Records the ids of objects that the operation created or replaced. */
async function recordCreatedObject(
  realm: TestRealm,
  { operation, target }: ModelStep,
  response: TestResponse,
): Promise<void> {
  const isImport = /^(?:overwrite|import) /.test(operation)
  const [, kind] =
    /^(?:delete a|overwrite a|import a missing admin|create an?) (user|group|role|client|application)/.exec(
      operation,
    ) ?? []
  if (kind === undefined) return
  const id: string = isImport ? response.body.results[0].id : readCreatedId(response)
  if (kind === 'user') realm.setId('user', target.user, id)
  if (kind === 'group') realm.setId('group', target.group, id)
  if (isImport && kind === 'role') realm.setId('role', `${MANAGEMENT}/${target.missingRole}`, id)
  else if (kind === 'role')
    realm.setId('role', target.role, (await realm.send('superuser', ['GET', `roles/${target.role}`])).body.id)
  if (kind === 'application') realm.setId('client', `${CREATED}${target.newName}`, id)
  if (kind !== 'client') return
  realm.setId('client', target.client, id)
  realm.setSecret(target.client, target.client)
  const account = await realm.send('superuser', ['GET', `clients/${id}/service-account-user`])
  if (account.status === 200) realm.setId('user', toServiceAccountName(target.client), account.body.id)
}

/** Returns descriptions of what the administrators can do on the server, but could not before: by their tokens, their roles, and attempts. */
export async function listGainedOnServer(
  realm: TestRealm,
  initial: InitialRealm,
  state: ModelState,
): Promise<string[]> {
  const before = listReachableRoles(getAllPermissions(createState(initial)))
  const listNewRoles = (permissions: AdminPermissions) =>
    [...listReachableRoles(permissions)].filter((role) => !before.has(role))
  const gained: string[] = []
  for (const principal of listPrincipals(state)) {
    const { user, client } = principal
    // One of the users of an application suffices.
    if (state.applications.has(client) && user !== 'admin') continue
    const description = `${user} by ${client}`
    const isCreated = client.startsWith(CREATED)
    const { sub, azp } = state.clients.get(client)!.claims
    if (!isCreated)
      for (const role of listNewRoles(await getTokenPermissions(realm, principal)))
        gained.push(`${description}: the token shows ${role}`)
    if (client === LOGIN)
      for (const role of listNewRoles(await getMappedPermissions(realm, user)))
        gained.push(`${description}: the user has ${role}`)
    const hasClaims = sub !== undefined || azp !== undefined
    if (isCreated || hasClaims || (client === LOGIN && user.startsWith('weak-')))
      for (const role of await listPermittedAttempts(realm, principal, before))
        gained.push(`${description}: can do what requires ${role}`)
  }
  return gained
}

/** Returns the roles whose attempts succeed, except for roles that the administrators could have before. */
async function listPermittedAttempts(
  realm: TestRealm,
  by: Principal,
  before: ReadonlySet<AdminRole>,
): Promise<string[]> {
  const roles = attemptRoles.filter((role) => !before.has(role))
  const responses = await Promise.all(roles.map((role) => realm.send(by, attempts[role](realm))))
  return roles.filter((_, at) => responses[at]!.status !== 403)
}

/** The claims of an access token that contain roles. */
interface RoleClaims {
  readonly realm_access?: { readonly roles?: readonly string[] }
  readonly resource_access?: Readonly<Record<string, { readonly roles: readonly string[] }>>
}

/** Returns the admin permissions that a token of the principal shows. */
async function getTokenPermissions(realm: TestRealm, principal: Principal): Promise<AdminPermissions> {
  const { realm_access = {}, resource_access = {} } = decodeJwt<RoleClaims>(await realm.getToken(principal))
  const roles: RoleName[] = [
    ...(realm_access.roles ?? []).map((name) => ({ client: null, name })),
    ...Object.entries(resource_access).flatMap(([client, { roles }]) => roles.map((name) => ({ client, name }))),
  ]
  return toAdminPermissions(REALM, roles)
}

/** Returns the admin permissions of a user by the role mappings that the server lists. */
async function getMappedPermissions(realm: TestRealm, user: string): Promise<AdminPermissions> {
  const path = `users/${realm.getId('user', user)}/role-mappings/clients/${realm.getId('client', MANAGEMENT)}/composite`
  const { body } = await realm.send('superuser', ['GET', path])
  const roles: readonly { readonly name: string }[] = body
  return toAdminPermissions(
    REALM,
    roles.map(({ name }) => ({ client: MANAGEMENT, name })),
  )
}
