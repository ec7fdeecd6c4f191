// What a client has while it runs: its account, and the nodes that registered.
import type { Representation } from '../../../kinds/json.ts'
import { secondsOf } from '../../../lib/seconds.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { findAccountOf } from '../../login/login.ts'
import type { LiveObject } from '../../objects/live.ts'
import { demand } from '../../permissions/administrators.ts'
import { openProfile } from '../../users/user-profile.ts'
import { getObject } from '../common/resource.ts'
import { showUser } from '../users/user-view.ts'
import { refuseAdministration } from './clients.ts'

const MANAGE = 'manage-clients'

/** The account of a client. Throws invalid where it has none. */
export async function getServiceAccount(context: Context, client: string): Promise<Representation> {
  const { key, representation } = await findClient(context, client)
  demand(context, 'view-clients')
  const account = representation.serviceAccountsEnabled === true ? await findAccountOf(context, client) : undefined
  if (!account) throw failure('malformed', `Service account not enabled for the client '${key[0]}'`)
  return (await showUser(context, account.id, openProfile))!
}

/** Throws not_found, or forbidden unless the caller may manage the client of that id. */
export async function demandClient(context: Context, client: string): Promise<void> {
  const live = await findClient(context, client)
  demand(context, MANAGE)
  refuseAdministration(context, live)
}

/** Notes that a node of a client is there. */
export async function addNode(context: WriteContext, client: string, { node }: Representation): Promise<void> {
  const live = await findClient(context, client)
  demand(context, MANAGE)
  refuseAdministration(context, live)
  if (typeof node !== 'string') throw failure('malformed', 'Node not found in params')
  describeEvent(context, { resourcePath: `clients/${client}/nodes/${node}` })
  await setNodes(context, live, { ...nodesOf(live), [node]: secondsOf(context.now) })
}

/** Forgets a node of a client. Throws not_found. */
export async function removeNode(context: WriteContext, client: string, node: string): Promise<void> {
  const live = await findClient(context, client)
  demand(context, MANAGE)
  refuseAdministration(context, live)
  const { [node]: gone, ...others } = nodesOf(live)
  // Keycloak: it does not say which.
  if (gone === undefined) throw failure('not_found', 'Client does not have node ')
  await setNodes(context, live, others)
}

function setNodes(context: WriteContext, live: LiveObject, nodes: Record<string, number>): Promise<unknown> {
  const before = nodesOf(live)
  const gone = Object.fromEntries(Object.keys(before).map((node) => [`registeredNodes.${node}`, null]))
  const set = Object.fromEntries(Object.entries(nodes).map(([node, at]) => [`registeredNodes.${node}`, at]))
  return writers.client.update(context, [{ live, set: { ...gone, ...set } }])
}

const nodesOf = ({ representation }: LiveObject) => ({ ...(representation.registeredNodes as Record<string, number>) })

function findClient(context: Context, id: string): Promise<LiveObject> {
  return getObject(context, 'client', id, 'Could not find client')
}
