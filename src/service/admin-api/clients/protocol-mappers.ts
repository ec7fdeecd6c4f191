// The REST operations on the protocol mappers of clients and client scopes.

import { randomUUID } from 'node:crypto'
import { type Json, type Representation, readObject, readTextMap } from '../../../kinds/json.ts'
import type { KindName } from '../../../kinds/kind.ts'
import { mapperTypes, toEffectiveMapperConfig } from '../../../kinds/mapper-types.ts'
import { requireObjectPermission } from '../../authorization/object-permissions.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { duplicateResource, failure } from '../../context/errors.ts'
import { writers } from '../../kinds/index.ts'
import { type ToWire, toWireRepresentation } from '../../kinds/wire-representation.ts'
import { omitNulls, toReplacement } from '../../objects/put-body.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { refuseAdminClient } from '../common/client-lookup.ts'
import { createPlainResource } from '../common/plain-resource.ts'
import {
  type AdminResource,
  createChildGetter,
  getObject,
  type ObjectAddress,
  type PartialAddress,
  toNewObject,
  toParent,
} from '../common/resource.ts'

/** Keycloak: a pairwise subject needs a salt. One is generated if the body declares none. */
const PAIRWISE = 'oidc-sha256-pairwise-sub-mapper'
const SALT = 'pairwiseSubAlgorithmSalt'

/** Keycloak: ProtocolMappersResource, of the clients or of the client scopes of a realm. */
export function createProtocolMapperResource(ownerKind: KindName, ownerNotFound: string) {
  const getOwner = (context: Context, id: string) => getObject(context, ownerKind, { id, notFound: ownerNotFound })
  const getChangeableOwner = async (context: Context, id: string) => {
    const live = await getOwner(context, id)
    if (ownerKind === 'client') refuseAdminClient(context, live)
    return live
  }
  const kind = 'protocolMapper'
  const notFound = 'Model not found'
  const requireAccess = async (context: Context, scope: 'view' | 'manage', { owner }: PartialAddress) =>
    ownerKind === 'client'
      ? requireObjectPermission(context, { type: 'Clients', scope, objects: [{ id: owner! }] })
      : requirePermissions(context, common[scope])
  const common = {
    kind,
    view: 'view-clients',
    manage: 'manage-clients',
    requireAccess,
    readBody,
    toWire: toRepresentation,
  } as const
  const getMapper = createChildGetter({ kind, getOwner, notFound })
  const getChangeableMapper = createChildGetter({ kind, getOwner: getChangeableOwner, notFound })
  const { list, get } = createPlainResource({ ...common, getObject: getMapper, getOwner })
  // Keycloak: mappers of unknown types are not listed.
  const listKnown: AdminResource['list'] = async (context, address, query) =>
    (await list(context, address, query)).filter(({ protocolMapper }) => isKnownType(protocolMapper))
  return {
    ...createPlainResource({ ...common, getObject: getChangeableMapper, getOwner: getChangeableOwner }),
    list: listKnown,
    get,
    async replace(context: WriteContext, address: ObjectAddress, body: Representation): Promise<void> {
      await requireAccess(context, 'manage', address)
      const live = await getChangeableMapper(context, address)
      // Keycloak: the name stays.
      const { name: _, ...set } = toReplacement(live, readBody(body))
      await writers[kind].update(context, [{ live, set }])
    },
    /** Creates several mappers of an owner: all of them or none. */
    async createAll(context: WriteContext, ownerId: string, bodies: readonly Representation[]): Promise<void> {
      await requireAccess(context, 'manage', { owner: ownerId })
      const owner = await getChangeableOwner(context, ownerId)
      const existing = await writers[kind].list(context, { parents: { kind: ownerKind, ids: [owner.id] } })
      const names = [...existing.map(({ key }) => key.at(-1)), ...bodies.map((body) => body.name)]
      if (new Set(names).size < names.length)
        throw failure('conflict', 'Protocol mapper name must be unique per protocol', { form: { error: 'conflict' } })
      const parent = toParent(owner)
      await writers[kind].create(
        context,
        bodies.map((body) => ({ ...toNewObject(readBody(body)), parent })),
      )
    },
  }
}

const toRepresentation: ToWire = (vault, live) => {
  const representation = toWireRepresentation(vault, live)
  const { protocolMapper, config } = representation
  return { ...representation, config: toEffectiveMapperConfig(String(protocolMapper), readTextMap(config)) }
}

function isKnownType(protocolMapper: Json | undefined): boolean {
  return Object.hasOwn(mapperTypes, String(protocolMapper))
}

function readBody(body: Representation): Representation {
  const { protocolMapper, name = null } = body
  if (!isKnownType(protocolMapper)) throw failure('not_found', 'ProtocolMapper provider not found')
  // Keycloak: the error is that of its database.
  if (name === null) throw duplicateResource()
  const fields = omitNulls(body)
  if (protocolMapper !== PAIRWISE) return fields
  const { [SALT]: salt, ...config } = readObject(fields.config)
  return { ...fields, config: { ...config, [SALT]: salt || randomUUID() } }
}
