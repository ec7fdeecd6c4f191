// Scope mappings: documents list them beside clients, as realm roles of a client or client scope, or as roles of one client. Regent has a
// field of the client or client scope.
import * as z from 'zod'
import {
  isList,
  isObject,
  type Json,
  type Representation,
  readObject,
  readObjects,
  readPath,
  readTextListMap,
} from '../../kinds/json.ts'
import type { DocumentPath } from '../../lib/source-position.ts'
import { describeType } from '../message-words.ts'
import { toClientScopeName } from './client-templates.ts'
import type { ConversionContext, FormatConverter } from './format-converter.ts'

/** The lists of objects with scope mappings, their natural key, and the fields of a mapping that refer to them. */
const owners = [
  { list: 'clients', key: 'clientId', references: ['client'] },
  // Keycloak: client templates are the predecessors of client scopes.
  { list: 'clientScopes', key: 'name', references: ['clientScope', 'clientTemplate'] },
] as const

const reference = z.string().optional()
const mapping = z
  .strictObject({
    client: reference.describe('Client with the roles in its scope, by client id.'),
    clientScope: reference.describe('Client scope with the roles in its scope, by name.'),
    clientTemplate: reference.describe('Keycloak: legacy field; use clientScope.'),
    roles: z.array(z.string()).describe('Names of the roles.'),
    self: z.string().optional().describe('Keycloak: legacy field, ignored.'),
  })
  .describe('Roles in the scope of a client or client scope.')

/** Converts scope mappings of a realm to fields of clients and client scopes. */
export const scopeMappings: FormatConverter = {
  read({ scopeMappings: realmMappings, clientScopeMappings: clientMappings, ...realm }, context) {
    const targets = new MappingTargets(realm, context)
    for (const declared of listMappings(realmMappings, ['scopeMappings'], context)) targets.add(declared)
    if (isObject(clientMappings)) {
      for (const [client, list] of Object.entries(clientMappings))
        for (const declared of listMappings(list, ['clientScopeMappings', client], context))
          targets.add({ ...declared, client })
    } else if (clientMappings !== undefined && clientMappings !== null) {
      const advice = 'put each list under the id of the client whose roles it names'
      const problem = `clientScopeMappings must be an object, not ${describeType(clientMappings)}`
      context.report(['clientScopeMappings'], `${problem}: ${advice}`)
    }
    return realm
  },
  write(realm) {
    const realmMappings: Representation[] = []
    const clientMappings = new Map<string, Representation[]>()
    const converted = { ...realm }
    for (const { list, key, references } of owners) {
      if (!isList(realm[list])) continue
      converted[list] = readObjects(realm[list]).map(({ scopeMappings: declared, ...rest }) => {
        const { realm: realmRoles, client: clientRoles } = readObject(declared)
        const owner = { [references[0]]: rest[key]! }
        if (realmRoles) realmMappings.push({ ...owner, roles: realmRoles })
        for (const [client, roles] of Object.entries(readTextListMap(clientRoles))) {
          const mappings = clientMappings.get(client) ?? []
          clientMappings.set(client, mappings)
          mappings.push({ ...owner, roles })
        }
        return rest
      })
    }
    return {
      ...converted,
      ...(realmMappings.length && { scopeMappings: realmMappings }),
      ...(clientMappings.size && { clientScopeMappings: Object.fromEntries(clientMappings) }),
    }
  },
  schemas: () => ({
    realm: { scopeMappings: z.array(mapping), clientScopeMappings: z.record(z.string(), z.array(mapping)) },
  }),
}

/** A scope mapping, with its path in the document. */
interface DeclaredMapping {
  readonly path: DocumentPath
  readonly mapping: Representation
  /** The client with the roles; undefined for realm roles. */
  readonly client?: string
}

function listMappings(value: Json | undefined, path: DocumentPath, { report }: ConversionContext): DeclaredMapping[] {
  if (value === undefined || value === null) return []
  const name = path.join('.')
  if (!isList(value)) {
    const advice = 'begin each element with "- client: <client id>"'
    report(path, `${name} must be a list, not ${describeType(value)}: ${advice}`)
    return []
  }
  return value.flatMap((element, at): DeclaredMapping[] => {
    if (isObject(element)) return [{ path: [...path, at], mapping: element }]
    report([...path, at], `${name}[${at}] must be an object, not ${describeType(element)}`)
    return []
  })
}

/** The clients and client scopes that mappings refer to. Writes to the realm. */
class MappingTargets {
  readonly #realm: Representation
  readonly #context: ConversionContext
  readonly #indexes = new Map<string, number>()

  constructor(realm: Representation, context: ConversionContext) {
    this.#realm = realm
    this.#context = context
  }

  /** Adds the roles of a mapping to the scope of the client or client scope that it refers to. */
  add({ path, mapping, client }: DeclaredMapping): void {
    const { report, recordMove } = this.#context
    const owner = owners.find(({ references }) => references.some((field) => typeof mapping[field] === 'string'))
    const { roles } = mapping
    if (!owner) {
      report(path, 'a scope mapping needs a client or a clientScope: add its name')
      return
    }
    if (!isList(roles) || !roles.every((role) => typeof role === 'string')) {
      report(path, 'a scope mapping needs roles: add a list of their names')
      return
    }
    const field = owner.references.find((name) => typeof mapping[name] === 'string')!
    const name = String(field === 'clientTemplate' ? toClientScopeName(mapping[field]!) : mapping[field])
    const at = this.#getIndex(owner, name, path)
    addRoles(readObject(readPath(this.#realm, [owner.list, at])), roles, client)
    const target = [owner.list, at, 'scopeMappings']
    recordMove(target, path)
    recordMove([...target, ...(client === undefined ? ['realm'] : ['client', client])], [...path, 'roles'])
  }

  /** Returns the index of an object in its list, which becomes a copy that may be changed. Adds a reference if it is not declared. */
  #getIndex({ list, key }: (typeof owners)[number], name: string, path: DocumentPath): number {
    const cachedIndex = this.#indexes.get(`${list} ${name}`)
    if (cachedIndex !== undefined) return cachedIndex
    const value = this.#realm[list]
    const objects = isList(value) ? value : []
    const existing = objects.findIndex((object) => isObject(object) && object[key] === name)
    const at = existing < 0 ? objects.length : existing
    this.#realm[list] = existing < 0 ? [...objects, { [key]: name }] : objects.with(at, { ...readObject(objects[at]) })
    this.#indexes.set(`${list} ${name}`, at)
    if (existing >= 0) return at
    this.#context.recordMove([list, at], path)
    this.#context.markReference([list, at])
    return at
  }
}

/** Adds roles of the realm or of a client to the scope of an object. An invalid scope is reported when the realm is checked. */
function addRoles(owner: Representation, roles: readonly Json[], client: string | undefined): void {
  const scope = owner.scopeMappings ?? {}
  if (!isObject(scope) || !isObject(scope.client ?? {})) return
  const clientRoles = readObject(scope.client)
  const existing = (client === undefined ? scope.realm : clientRoles[client]) ?? []
  if (!isList(existing)) return
  const merged = [...new Set([...existing, ...roles])]
  owner.scopeMappings =
    client === undefined ? { ...scope, realm: merged } : { ...scope, client: { ...clientRoles, [client]: merged } }
}
