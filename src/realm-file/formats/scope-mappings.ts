// Roles in the scope of clients and client scopes: documents list them beside these, by who has them in scope (roles of
// the realm) or by the client whose roles they are; kept they are a field of the client or client scope.
import * as z from 'zod'
import { isObject, type Json, type Representation } from '../../kinds/json.ts'
import type { DocumentPath } from '../../lib/source-position.ts'
import { describeType } from '../message-words.ts'
import { scopeOfTemplate } from './client-templates.ts'
import type { ConversionContext, FormatConverter } from './format-converter.ts'

/** The lists that may have roles in scope, the natural key of their elements, and what mappings call them. */
const holders = [
  { list: 'clients', key: 'clientId', names: ['client'] },
  // Keycloak: client scopes were called client templates.
  { list: 'clientScopes', key: 'name', names: ['clientScope', 'clientTemplate'] },
] as const

const who = z.string().optional()
const mapping = z
  .strictObject({
    client: who.describe('Client that has the roles in scope.'),
    clientScope: who.describe('Client scope that has them.'),
    clientTemplate: who.describe('Keycloak: of an earlier form; see clientScope.'),
    roles: z.array(z.string()).describe('Names of the roles.'),
    self: z.string().optional().describe('Keycloak: of an earlier form; ignored.'),
  })
  .describe('Who has which roles in scope.')

type Holder = (typeof holders)[number]
type Scope = { realm?: string[]; client?: Record<string, string[]> }

/** Scope mappings beside the clients as fields of them, and back. */
export const scopeMappings: FormatConverter = {
  read({ scopeMappings: ofRealm, clientScopeMappings: ofClients, ...realm }, notes) {
    const add = adding(realm, notes)
    for (const [path, one] of elementsOf(ofRealm, ['scopeMappings'], notes)) add(path, one)
    if (isObject(ofClients ?? null)) {
      for (const [client, list] of Object.entries(ofClients as Representation)) {
        for (const [path, one] of elementsOf(list, ['clientScopeMappings', client], notes)) add(path, one, client)
      }
    } else if (ofClients !== undefined && ofClients !== null) {
      const advice = 'put each list under the id of the client whose roles it names'
      notes.report(
        ['clientScopeMappings'],
        `clientScopeMappings must be an object, not ${describeType(ofClients)}: ${advice}`,
      )
    }
    return realm
  },
  write(realm) {
    const ofRealm: Representation[] = []
    const ofClients: Record<string, Representation[]> = Object.create(null)
    const shaped = { ...realm }
    for (const { list, key, names } of holders) {
      if (!Array.isArray(realm[list])) continue
      shaped[list] = (realm[list] as Representation[]).map(({ scopeMappings: scope, ...rest }) => {
        const { realm: own, client = {} } = (scope ?? {}) as Scope
        const who = { [names[0]]: rest[key]! }
        if (own) ofRealm.push({ ...who, roles: own })
        for (const [owner, roles] of Object.entries(client)) {
          ofClients[owner] ??= []
          ofClients[owner].push({ ...who, roles })
        }
        return rest
      })
    }
    return {
      ...shaped,
      ...(ofRealm.length && { scopeMappings: ofRealm }),
      ...(Object.keys(ofClients).length && { clientScopeMappings: { ...ofClients } }),
    }
  },
  schemas: () => ({
    realm: { scopeMappings: z.array(mapping), clientScopeMappings: z.record(z.string(), z.array(mapping)) },
  }),
}

type Add = (path: DocumentPath, mapping: Representation, client?: string) => void

/** Puts the roles of a mapping, which stands at the path, into the scope of whom it names. Writes to the realm. */
function adding(realm: Representation, { report, recordMove: moved, markReference: named }: ConversionContext): Add {
  const places = new Map<string, number>()
  const placeOf = ({ list, key }: Holder, name: string, path: DocumentPath): number => {
    const known = places.get(`${list} ${name}`)
    if (known !== undefined) return known
    const all = Array.isArray(realm[list]) ? (realm[list] as Json[]) : []
    const at = all.findIndex((one) => isObject(one) && one[key] === name)
    const place = at < 0 ? all.length : at
    realm[list] = at < 0 ? [...all, { [key]: name }] : all.with(at, { ...(all[at] as Representation) })
    places.set(`${list} ${name}`, place)
    if (at >= 0) return place
    moved([list, place], path)
    named([list, place])
    return place
  }
  return (path, mapping, client) => {
    const holder = holders.find(({ names }) => names.some((name) => typeof mapping[name] === 'string'))
    const { roles } = mapping
    if (!holder) return report(path, 'a scope mapping needs a client or a clientScope: add its name')
    if (!Array.isArray(roles) || !roles.every((role) => typeof role === 'string')) {
      return report(path, 'a scope mapping needs roles: add a list of their names')
    }
    const member = holder.names.find((one) => typeof mapping[one] === 'string')!
    const name = String(member === 'clientTemplate' ? scopeOfTemplate(mapping[member]!) : mapping[member])
    const at = placeOf(holder, name, path)
    const owner = (realm[holder.list] as Representation[])[at]!
    const scope = (owner.scopeMappings ?? {}) as Scope
    const own = client === undefined ? scope.realm : scope.client?.[client]
    const all = [...new Set([...(own ?? []), ...roles])]
    owner.scopeMappings =
      client === undefined ? { ...scope, realm: all } : { ...scope, client: { ...scope.client, [client]: all } }
    const place = [holder.list, at, 'scopeMappings']
    moved(place, path)
    moved([...place, ...(client === undefined ? ['realm'] : ['client', client])], [...path, 'roles'])
  }
}

function elementsOf(
  value: Json | undefined,
  path: DocumentPath,
  { report }: ConversionContext,
): [path: DocumentPath, mapping: Representation][] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) {
    report(
      path,
      `${path.join('.')} must be a list, not ${describeType(value)}: begin each element with "- client: <client id>"`,
    )
    return []
  }
  return value.flatMap((one, at): [DocumentPath, Representation][] => {
    if (isObject(one)) return [[[...path, at], one]]
    report([...path, at], `${path.join('.')}[${at}] must be an object, not ${describeType(one)}`)
    return []
  })
}
