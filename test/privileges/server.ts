// Plays on the running server what is played in the miniature, and looks there for what it has come to.
import { decodeJwt } from 'jose'
import { expect } from 'vitest'
import type { AdminRole } from '../../src/kinds/admin-roles.ts'
import { ALL_PERMISSIONS, type AdminRoleName, type AdminPermissions, toAdminPermissions } from '../../src/service/context/admin-permissions.ts'
import type { TestResponse } from '../support/server.ts'
import { testService } from '../support/service.ts'
import { type Beginning, begin } from './beginning.ts'
import { accountOf } from './document.ts'
import { type Operation, type OperationName, operations } from './operations.ts'
import { type Command, play, type Step } from './play.ts'
import { attempts, deletionOf, requests } from './requests.ts'
import {
  CREATED,
  LOGIN,
  MANAGEMENT,
  NEWCOMER,
  type Principal,
  powerOfAll,
  principals,
  REALM,
  reach,
  type State,
  VISITOR,
} from './state.ts'
import type { World } from './world.ts'

/** Does on the server what the miniature does, with the rule but for the check of one operation. The server must allow exactly what is allowed here. */
export async function carryOut(
  world: World,
  beginning: Beginning,
  commands: readonly Command[],
  without?: OperationName,
): Promise<State> {
  const steps = play(beginning, commands, without)
  for (let number = 0; ; number++) {
    const { done, value } = steps.next()
    if (done) return value
    const { operation, by, target, allowed, checked, state } = value
    const moment = { world, target, state, fresh: `fresh-${number}` }
    const caller = (operations[operation] as Operation).needs === undefined ? 'everything' : by
    const ask = async () => {
      const deletion = deletionOf(operation)
      if (deletion?.own || (deletion && allowed)) {
        const deleted = await world.ask(deletion.own ? caller : 'everything', ...deletion.request(moment))
        if (deleted.status >= 400) return deleted
      }
      return world.ask(caller, ...requests[operation](moment))
    }
    const missed = allowed && !checked
    if (missed) expect(await ask(), operation).toMatchObject({ status: 403 })
    const answer = await (missed ? unchecked(ask) : ask())
    const told = `${operation} ${JSON.stringify({ by, target, answer: answer.body })}`
    if (allowed) expect(answer.status, told).toBeLessThan(300)
    else expect(answer.status, told).toBe(403)
    if (allowed) await follow(world, value, answer)
  }
}

/** Does the work as if the rule were not there: before all power it lets pass everything. */
async function unchecked<T>(work: () => Promise<T>): Promise<T> {
  const { service } = await testService()
  const { read, write, writeRuntime: runtime } = service
  const powerful = <C extends { readonly power: AdminPermissions }>(context: C): C => Object.assign(context, { power: ALL_PERMISSIONS })
  service.read = (caller, realm, work) => read(caller, realm, (context) => work(powerful(context)))
  service.write = (caller, realm, work, options) => write(caller, realm, (context) => work(powerful(context)), options)
  service.writeRuntime = (caller, realm, work) => runtime(caller, realm, (context) => work(powerful(context)))
  try {
    return await work()
  } finally {
    Object.assign(service, { read, write, runtime })
  }
}

/** What is known then, and who comes: by the provider, or as somebody new. */
async function follow(world: World, { operation, target, state }: Step & { state: State }, answer: TestResponse) {
  if (operation.startsWith('write the ')) world.renewTokens(target.client)
  const created = String(answer.headers.location).split('/').at(-1)!
  if (operation.startsWith('make a user')) world.know('user', target.fresh, created)
  await followRecreation(world, operation, target, answer)
  if (operation === 'make a new secret') world.knowSecret(target.client, answer.body.value)
  const comes: Partial<Record<OperationName, [OperationName, string]>> = {
    'let a provider give a role': ['give a role to a user', VISITOR],
    'let a provider let people join a group': ['let a user join a group', VISITOR],
    'let newcomers join a group': ['let a user join a group', NEWCOMER],
  }
  const [as, user] = comes[operation] ?? []
  if (!as || !user || !state.users.has(user)) return
  const request = requests[as]({ world, target: { ...target, user }, state, fresh: '' })
  expect(await world.ask('everything', ...request)).toMatchObject({ status: 204 })
}

/** The ids of what was created in the place of something else. */
async function followRecreation(world: World, operation: OperationName, target: Step['target'], answer: TestResponse) {
  const imported = /^(?:overwrite|import) /.test(operation)
  const [, kind] =
    /^(?:delete a|overwrite a|import a|create an?) (user|group|role|client|application)/.exec(operation) ?? []
  if (kind === undefined) return
  const id: string = imported ? answer.body.results[0].id : String(answer.headers.location).split('/').at(-1)
  if (kind === 'user') world.know('user', target.user, id)
  if (kind === 'group') world.know('group', target.group, id)
  if (imported && kind === 'role') world.know('role', `${MANAGEMENT}/${target.title}`, id)
  else if (kind === 'role')
    world.know('role', target.role, (await world.ask('everything', 'GET', `roles/${target.role}`)).body.id)
  if (kind === 'application') world.know('client', `${CREATED}${target.fresh}`, id)
  if (kind !== 'client') return
  world.know('client', target.client, id)
  world.knowSecret(target.client, target.client)
  const account = await world.ask('everything', 'GET', `clients/${id}/service-account-user`)
  if (account.status === 200) world.know('user', accountOf(target.client), account.body.id)
}

/** What the administrators can do there that they could not do before: by their roles, by the tokens that they can have, and by trying. */
export async function risenThere(world: World, beginning: Beginning, state: State): Promise<string[]> {
  const before = reach(powerOfAll(begin(beginning)))
  const risen: string[] = []
  for (const one of principals(state)) {
    // Of those who only use an application, one tells as much as all.
    const { written } = state.clients.get(one.client)!
    const isClaimed = written.sub !== undefined || written.azp !== undefined
    if (state.applications.has(one.client) && one.user !== 'boss') continue
    const told = `${one.user} by ${one.client}`
    if (!one.client.startsWith(CREATED))
      for (const role of reach(await powerThere(world, one))) if (!before.has(role)) risen.push(`${told} shows ${role}`)
    if (isClaimed || one.client.startsWith(CREATED))
      for (const role of await succeeding(world, one, before)) risen.push(`${told} can do what ${role} does`)
    if (one.client !== LOGIN) continue
    for (const role of reach(await powerHeld(world, one.user)))
      if (!before.has(role)) risen.push(`${told} holds ${role}`)
    if (!one.user.startsWith('weak-')) continue
    for (const role of await succeeding(world, one, before)) risen.push(`${told} can do what ${role} does`)
  }
  return risen
}

/** What of all that takes more than this somebody can do. */
async function succeeding(world: World, by: Principal, than: ReadonlySet<AdminRole>): Promise<string[]> {
  const tried = (Object.keys(attempts) as (keyof typeof attempts)[]).filter((role) => !than.has(role))
  const answers = await Promise.all(tried.map((role) => world.ask(by, ...attempts[role](world))))
  return tried.filter((_, at) => answers[at]!.status !== 403)
}

/** What somebody may administer by what their token shows. */
async function powerThere(world: World, principal: Principal): Promise<AdminPermissions> {
  const { realm_access = {}, resource_access = {} } = decodeJwt(await world.token(principal)) as {
    realm_access?: { roles?: string[] }
    resource_access?: Record<string, { roles: string[] }>
  }
  const roles: AdminRoleName[] = [
    ...(realm_access.roles ?? []).map((name) => ({ client: null, name })),
    ...Object.entries(resource_access).flatMap(([client, { roles }]) => roles.map((name) => ({ client, name }))),
  ]
  return toAdminPermissions(REALM, roles)
}

/** What somebody may administer by the roles that they have for one who has all power. */
async function powerHeld(world: World, user: string): Promise<AdminPermissions> {
  const roles = `users/${world.id('user', user)}/role-mappings/clients/${world.id('client', MANAGEMENT)}/composite`
  const { body } = await world.ask('everything', 'GET', roles)
  return toAdminPermissions(
    REALM,
    (body as { name: string }[]).map(({ name }) => ({ client: MANAGEMENT, name })),
  )
}
