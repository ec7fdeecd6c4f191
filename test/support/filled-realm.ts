// A realm with one object of every kind, and the values of path parameters that address these objects.
import { randomUUID } from 'node:crypto'
import { operations } from '../../src/http/admin/index.ts'
import { listParameters, type Operation } from '../../src/http/operation.ts'
import { LDAP_MAPPER, USER_STORAGE } from '../../src/kinds/component-types.ts'
import { kinds } from '../../src/kinds/index.ts'
import type { Representation } from '../../src/kinds/json.ts'
import type { KindName } from '../../src/kinds/kind.ts'
import type { TreeObject } from '../../src/kinds/tree.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { writers } from '../../src/service/kinds/index.ts'
import { addClientSession, startSession } from '../../src/service/login/sessions.ts'
import { insertInvitation } from '../../src/store/organization-invitations.ts'
import { findMeaning, type ParameterMeaning, parameterMeanings } from './path-parameters.ts'
import { createSampleObject, toDocument, toName } from './samples.ts'
import { testServer } from './server.ts'
import { newName, testService } from './service.ts'
import { applySource, createSource } from './sources.ts'

/** Lists of things that are no objects of their own, such as sessions, if the API can read them. */
const lists = [
  ...new Set(Object.values(parameterMeanings).flatMap((meaning) => ('list' in meaning ? [meaning.list] : []))),
].filter((list) => operations.some(({ method, path }) => method === 'GET' && path === `/admin/realms/{realm}/${list}`))

/** A realm with one object of every kind under each parent, all named by one label. */
export interface FilledRealm {
  readonly name: string
  /** Returns the value of a path parameter. */
  value(path: string, parameter: string): string
  /** Returns the values of path parameters for the objects with another label, and for the last elements of lists. */
  withLabel(label: string): Pick<FilledRealm, 'value'>
}

/** Creates a realm with objects of every kind, named by the label, with the fields, and with additional objects. */
export async function createFilledRealm(
  label: string,
  fields: (kind: KindName) => Representation = () => ({}),
  additional: readonly TreeObject[] = [],
): Promise<FilledRealm> {
  const { service } = await testService()
  const { call } = await testServer()
  const realm = newName()
  await applySource(
    service,
    createSource(
      [
        toDocument(realm, [...createObjects(label, fields), ...createUserStore(label), ...additional], {
          organizationsEnabled: true,
          ...fields('realm'),
        }),
      ],
      realm,
    ),
  )
  const live = await service.read(SYSTEM, realm, async (context) => {
    const lists = await Promise.all((Object.keys(kinds) as KindName[]).map((kind) => writers[kind].list(context, {})))
    return lists.flat()
  })
  const listed = new Map<string, string[]>()
  const withLabel = (otherLabel: string): Pick<FilledRealm, 'value'> => {
    return {
      value(path, parameter) {
        const meaning = getMeaning(path, parameter)
        if (parameter === 'realm') return realm
        if ('fixed' in meaning) return meaning.fixed
        if (meaning.by === 'name') return otherLabel
        if ('list' in meaning) return listed.get(meaning.list)!.at(otherLabel === label ? 0 : -1)!
        const through = listParameters(path).map((name) => findKind(path, name))
        const candidates = live.filter(
          ({ kind, key }) =>
            kind === meaning.kind &&
            key.at(-1) === (meaning.provider ? componentPaths[meaning.provider](otherLabel) : toName(kind, otherLabel)),
        )
        const object =
          candidates.find(({ key }) => through.includes(key.length > 1 ? key[0] : 'realm')) ?? candidates[0]
        if (!object) throw new Error(`${realm} has no ${meaning.kind}.`)
        return object.id
      },
    }
  }
  const filled: FilledRealm = { name: realm, ...withLabel(label), withLabel }
  const [user, client, organization] = ['user', 'client', 'organization'].map(
    (name) => live.find(({ kind, key }) => kind === name && key[0] === label)!.id,
  )
  await service.writeRuntime(SYSTEM, realm, async (context) => {
    const session = await startSession(context, { user: user!, body: {} })
    await addClientSession(context, session, { client: client!, scope: '', base: 'http://localhost' })
    for (const name of ['alice', 'bob'])
      await insertInvitation(context.tx, context.realm.number, {
        ...{ id: randomUUID(), organization: organization!, email: `${name}@example.org` },
        ...{ firstName: null, lastName: null, sentAt: new Date(), expiresAt: new Date(Date.now() + 3_600_000) },
      })
  })
  await call('POST', `/admin/realms/${realm}/clients-initial-access`, { body: {} })
  for (const list of lists) {
    const { body } = await call('GET', toAddress(`/admin/realms/{realm}/${list}`, filled))
    listed.set(
      list,
      body.map(({ id }: { id: string }) => id),
    )
  }
  return filled
}

/** The paths of components with a certain type, by label. */
const componentPaths = {
  'user store': (label: string) => `${USER_STORAGE}/${label}`,
  'LDAP mapper': (label: string) => `${USER_STORAGE}/${label}/${LDAP_MAPPER}/${label}`,
}

/** Returns a user federation provider that requires no directory, and a mapper. */
function createUserStore(label: string): TreeObject[] {
  return Object.values(componentPaths).map((getPath): TreeObject => {
    const path = getPath(label)
    return { kind: 'component', key: [path], representation: { path, providerId: 'custom' }, path: [] }
  })
}

/** Returns a value of a path parameter that addresses nothing, as long as the label; undefined if the parameter has a fixed value. */
export function findUnknownValue(path: string, parameter: string, label: string): string | undefined {
  const meaning = getMeaning(path, parameter)
  if ('fixed' in meaning) return undefined
  return meaning.by === 'id' ? randomUUID() : 'x'.repeat(label.length)
}

/** Returns the address of a path in the realm. */
export function toAddress(path: string, { value }: Pick<FilledRealm, 'value'>): string {
  return path.replace(/\{([^}]+)\}/g, (_, parameter) => encodeURIComponent(value(path, parameter)))
}

/** Returns a valid body of the operation: an object of its kind with the label, and with those of the fields that the kind has, or an empty body. */
export function createBody({ body }: Operation, label: string, fields: Representation = {}): unknown {
  const kind = body?.kind?.name
  const validFields = Object.entries(fields).filter(
    ([name, value]) => kind && kinds[kind].fields[name]?.schema.safeParse(value).success,
  )
  const object = kind && {
    ...(kind === 'realm' ? {} : createSampleObject(kind, label).representation),
    ...Object.fromEntries(validFields),
  }
  return [...(object ? [object, [object]] : []), {}, []].find((candidate) => body?.schema.safeParse(candidate).success)
}

/** Returns an object of every kind under each kind of parent, all with one label, and the objects that they refer to. The parents may have another label. */
export function createObjects(
  label: string,
  fields: (kind: KindName) => Representation,
  parentLabel: string = label,
): TreeObject[] {
  const kindNames = (Object.keys(kinds) as KindName[]).filter((kind) => kind !== 'realm')
  return kindNames.flatMap((kind) => {
    const object = createSampleObject(kind, label, { ...createLinks(kind, label), ...fields(kind) })
    const { parents, parentOptional } = kinds[kind]
    const below = parents.map((parent) => ({
      ...object,
      key: [parent, toName(parent, parentLabel), toName(kind, label)],
    }))
    return parents.length && !parentOptional ? below : [{ ...object, key: [toName(kind, label)] }, ...below]
  })
}

/** Returns fields of an object that have operations of their own, such as members and credentials. */
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
  return 'kind' in meaning ? meaning.kind : undefined
}

function getMeaning(path: string, parameter: string): ParameterMeaning {
  const meaning = findMeaning(path, parameter)
  if (!meaning) throw new Error(`${path}: the meaning of ${parameter} is unknown. Add it to parameterMeanings.`)
  return meaning
}
