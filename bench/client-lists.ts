// Lists, searches, exports and plans of a realm with many clients that have ten protocol mappers each, compared with the least SQL for each.
import { exportRealm } from '../src/realm-file/export/export-realm.ts'
import { applySources, planSources } from '../src/reconcile/run/run.ts'
import { clients } from '../src/service/admin-api/clients/clients.ts'
import type { Query } from '../src/service/admin-api/common/resource.ts'
import { SYSTEM } from '../src/service/context/service.ts'
import { createSource } from './generated-realms.ts'
import type { Bench, Case, Statement } from './measure.ts'

const REALM = 'many-clients'
const MAPPERS = 10

/** Creates the realm with this many clients, and returns the cases. */
export async function clientListCases(bench: Bench, clientCount: number): Promise<Case[]> {
  const { service } = bench
  const source = createSource(REALM, { clientCount, mapperCount: MAPPERS })
  const caller = { actor: { kind: 'source', source: source.name } } as const
  await applySources(service, caller, [source])
  const [{ number }] = (await bench.query<{ number: number }>('select number from realm where name = $1', [REALM])) as [
    { number: number },
  ]
  const createCase = (name: string, work: () => Promise<unknown>, baseline: readonly Statement[]): Case => ({
    name,
    size: clientCount,
    rounds: 20,
    seconds: 60,
    operation: () => work,
    baseline: () => async () => {
      for (const statement of baseline) JSON.stringify(await bench.query(...statement))
    },
  })
  const list = (query: Query) => () =>
    service.read(SYSTEM, REALM, async (context) => JSON.stringify(await clients.list(context, {}, query)))
  return [
    createCase('list all clients', list({}), [selectClients(number)]),
    createCase('list a page of 100 clients', list({ first: 0, max: 100 }), [selectClients(number, 'limit 100')]),
    createCase('search clients', list({ clientId: 'client-299', search: true }), [
      selectClients(number, '', `and c.client_id ilike '%client-299%'`),
    ]),
    createCase(
      'export the realm',
      () => service.read(SYSTEM, REALM, async (context) => JSON.stringify(await exportRealm(context, { full: true }))),
      [selectClients(number)],
    ),
    createCase('plan unchanged', () => planSources(service, caller, [source]), [['select 1']]),
  ]
}

/** Returns the statement that reads clients with their protocol mappers and client scopes. */
function selectClients(realm: number, end = '', condition = ''): Statement {
  return [
    `select c.id, c.client_id, c.body,
       (select json_agg(m.body order by m.name) from protocol_mapper m where m.realm = c.realm and m.client = c.id) as mappers
     from client c where c.realm = $1 ${condition} order by c.client_id ${end}`,
    [realm],
  ]
}
