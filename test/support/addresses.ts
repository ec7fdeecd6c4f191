// Addresses of operations: a realm with one object of every kind, and what the parameters of paths name in it.
import { randomUUID } from 'node:crypto'
import { operations } from '../../src/http/admin/index.ts'
import { type Operation, paramsOf } from '../../src/http/operation.ts'
import { kinds } from '../../src/kinds/index.ts'
import type { Representation } from '../../src/kinds/json.ts'
import type { KindName } from '../../src/kinds/kind.ts'
import type { TreeObject } from '../../src/kinds/tree.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { writers } from '../../src/service/kinds/index.ts'
import { addClientSession, startSession } from '../../src/service/login/sessions.ts'
import { findMeaning, type ParameterMeaning, parameterMeanings } from './parameters.ts'
import { applySource, createSource } from './reconcile.ts'
import { toDocument, toName, createSampleObject } from './samples.ts'
import { testServer } from './server.ts'
import { newName, testService } from './service.ts'

/** Lists of what is no object by itself; those that can be read. */
const lists = [...new Set(Object.values(parameterMeanings).flatMap((one) => ('listed' in one ? [one.listed] : [])))].filter(
  (list) => operations.some(({ method, path }) => method === 'GET' && path === `/admin/realms/{realm}/${list}`),
)

/** A realm with one object of every kind under each parent, all called by one label. */
export interface FilledRealm {
  readonly name: string
  /** What stands in a path for one of its parameters. */
  value(path: string, parameter: string): string
}

/** Makes a realm whose objects have the label for their name, and these fields; and others beside them. */
export async function createFilledRealm(
  label: string,
  fields: (kind: KindName) => Representation = () => ({}),
  others: readonly TreeObject[] = [],
): Promise<FilledRealm> {
  const { service } = await testService()
  const { call } = await testServer()
  const realm = newName()
  await applySource(
    service,
    createSource(
      [
        toDocument(realm, [...others, ...createObjects(label, fields)], {
          organizationsEnabled: true,
          ...fields('realm'),
        }),
      ],
      realm,
    ),
  )
  const own = await service.read(SYSTEM, realm, async (context) => {
    const lists = await Promise.all((Object.keys(kinds) as KindName[]).map((kind) => writers[kind].list(context, {})))
    return lists.flat().filter(({ kind, key }) => key.at(-1) === toName(kind, label))
  })
  const filled: FilledRealm = {
    name: realm,
    value(path, parameter) {
      const meaning = getMeaning(path, parameter)
      if (parameter === 'realm') return realm
      if ('fixed' in meaning) return meaning.fixed
      if (meaning.by === 'name') return label
      if ('listed' in meaning) return listed.get(meaning.listed)!
      const through = paramsOf(path).map((one) => findKind(path, one))
      const owned = own.filter(({ kind }) => kind === meaning.what)
      const found = owned.find(({ key }) => through.includes(key.length > 1 ? key[0] : 'realm')) ?? owned[0]
      if (!found) throw new Error(`${realm} has no ${meaning.what}`)
      return found.id
    },
  }
  const [person, client] = ['user', 'client'].map((name) => own.find(({ kind }) => kind === name)!.id)
  await service.writeRuntime(SYSTEM, realm, async (context) => {
    const session = await startSession(context, { user: person!, body: {} })
    await addClientSession(context, session, { client: client!, scope: '', base: 'http://localhost' })
  })
  const listed = new Map<string, string>()
  for (const list of lists) {
    const { body } = await call('GET', toAddress(`/admin/realms/{realm}/${list}`, filled))
    listed.set(list, body[0].id)
  }
  return filled
}

/** What stands in a path for a parameter where nothing is called so, anywhere: as long as the label. */
export function findUnknownValue(path: string, parameter: string, label: string): string | undefined {
  const meaning = getMeaning(path, parameter)
  if ('fixed' in meaning) return undefined
  return meaning.by === 'id' ? randomUUID() : 'x'.repeat(label.length)
}

/** The address that a path is in the realm. */
export function toAddress(path: string, { value }: Pick<FilledRealm, 'value'>): string {
  return path.replace(/\{([^}]+)\}/g, (_, parameter) => encodeURIComponent(value(path, parameter)))
}

/** A body that the operation can read: an object of its kind with that label and these fields, or an empty one. */
export function createBody({ body }: Operation, label: string, fields: Representation = {}): unknown {
  const kind = body?.kind?.name
  const own = kind && { ...(kind === 'realm' ? {} : createSampleObject(kind, label).representation), ...fields }
  return [...(own ? [own, [own]] : []), {}, []].find((one) => body?.schema.safeParse(one).success)
}

/** An object of every kind under each kind of parent, all with one label, and what they refer to. */
export function createObjects(label: string, fields: (kind: KindName) => Representation): TreeObject[] {
  const own = (Object.keys(kinds) as KindName[]).filter((kind) => kind !== 'realm')
  return own.flatMap((kind) => {
    const object = createSampleObject(kind, label, { ...createLinks(kind, label), ...fields(kind) })
    const { parents, parentOptional } = kinds[kind]
    const below = parents.map((parent) => ({ ...object, key: [parent, toName(parent, label), toName(kind, label)] }))
    return parents.length && !parentOptional ? below : [{ ...object, key: [toName(kind, label)] }, ...below]
  })
}

/** What an object has, so that there is something at the addresses that lead through it. */
function createLinks(kind: KindName, label: string): Representation {
  if (kind === 'organization') return { members: [{ username: label }], identityProviders: [{ alias: label }] }
  if (kind === 'authenticationFlow')
    return { authenticationExecutions: [{ authenticator: 'auth-cookie', requirement: 'REQUIRED', priority: 10 }] }
  if (kind !== 'user') return {}
  return {
    credentials: [{ type: 'otp', secretData: '{"value":"x"}', credentialData: '{"subType":"totp"}' }],
    federatedIdentities: [{ identityProvider: label, userId: label, userName: label }],
    clientConsents: [{ clientId: label, grantedClientScopes: [label] }],
    groups: [toName('group', label)],
  }
}

function findKind(path: string, parameter: string): string | undefined {
  const meaning = getMeaning(path, parameter)
  return 'what' in meaning ? meaning.what : undefined
}

function getMeaning(path: string, parameter: string): ParameterMeaning {
  const meaning = findMeaning(path, parameter)
  if (!meaning) throw new Error(`${path}: what ${parameter} names is not known: add it to meanings`)
  return meaning
}
