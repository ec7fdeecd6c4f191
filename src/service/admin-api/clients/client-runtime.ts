// The REST operations on the service account of a client and on its registered cluster nodes.

import { type Representation, readObject } from '../../../kinds/json.ts'
import { toEpochSeconds } from '../../../lib/epoch-seconds.ts'
import { requireObjectPermission } from '../../authorization/object-permissions.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { findServiceAccountOf } from '../../login/find-user.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { unrestrictedProfile } from '../../users/user-profile-rules.ts'
import { getClient, refuseAdminClient } from '../common/client-lookup.ts'
import { findUserRepresentation } from '../users/user-representations.ts'

/** Returns the user that is the service account of a client. Throws invalid if it has none. */
export async function getServiceAccount(context: Context, client: string): Promise<Representation> {
  const { key, representation } = await getClient(context, client)
  await requireObjectPermission(context, { type: 'Clients', scope: 'view', objects: [{ id: client }] })
  const account =
    representation.serviceAccountsEnabled === true ? await findServiceAccountOf(context, client) : undefined
  if (!account) throw failure('invalid', `Service account not enabled for the client '${key[0]}'`, { form: 'error' })
  return (await findUserRepresentation(context, account.id, unrestrictedProfile))!
}

/** Throws not_found if there is no client with that id, and forbidden unless the caller may manage it. */
export async function requireManageableClient(context: Context, id: string): Promise<void> {
  await getNodeOwner(context, id)
}

/** Registers a node of a client. */
export async function addNode(context: WriteContext, client: string, { node }: Representation): Promise<void> {
  const live = await getNodeOwner(context, client)
  if (typeof node !== 'string') throw failure('invalid', 'Node not found in params', { form: 'error' })
  describeAdminEvent(context, { resourcePath: `clients/${client}/nodes/${node}` })
  await setNodes(context, live, { ...readNodes(live), [node]: toEpochSeconds(context.now) })
}

/** Removes a node of a client. Throws not_found. */
export async function removeNode(context: WriteContext, client: string, node: string): Promise<void> {
  const live = await getNodeOwner(context, client)
  const { [node]: registered, ...remaining } = readNodes(live)
  // Keycloak: the message does not name the node.
  if (registered === undefined) throw failure('not_found', 'Client does not have node ')
  await setNodes(context, live, remaining)
}

function setNodes(context: WriteContext, live: LiveObject, nodes: Representation): Promise<unknown> {
  const removed = Object.keys(readNodes(live)).map((node) => [`registeredNodes.${node}`, null])
  const set = Object.entries(nodes).map(([node, at]) => [`registeredNodes.${node}`, at])
  return writers.client.update(context, [{ live, set: Object.fromEntries([...removed, ...set]) }])
}

async function getNodeOwner(context: Context, id: string): Promise<LiveObject> {
  const live = await getClient(context, id)
  await requireObjectPermission(context, { type: 'Clients', scope: 'configure', objects: [{ id }] })
  refuseAdminClient(context, live)
  return live
}

/** Returns the times at which the nodes of a client were registered, in seconds since 1970, by node. */
const readNodes = ({ representation }: LiveObject) => readObject(representation.registeredNodes)
