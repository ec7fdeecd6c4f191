// The operations that are measured, each with the least work that has the same effect.
import { dump, load } from 'js-yaml'
import { parseDocuments } from '../src/realm-file/yaml/parse-documents.ts'
import type { SourceContent } from '../src/reconcile/read/source-content.ts'
import { applySources, planSources } from '../src/reconcile/run/run.ts'
import { SYSTEM } from '../src/service/context/service.ts'
import { collectRealmRows, copyRealmRows, type RealmRows } from './copy-rows.ts'
import { createRealmDocument, createSource } from './generated-realms.ts'
import type { Bench, Case, Statement } from './measure.ts'

let count = 0
const createRealmName = () => `measured-${++count}`

/** Returns the case that creates a realm with defaults only. */
export async function createRealmCase(bench: Bench): Promise<Case> {
  const create = (realm: string) =>
    bench.service.createRealm(SYSTEM, { representation: { realm, enabled: true } }, async () => {})
  for (let warmUp = 0; warmUp < 10; warmUp++) await create(createRealmName())
  const realm = createRealmName()
  const rows = await collectRealmRows(bench, realm, () => create(realm))
  return {
    name: 'create a realm',
    rounds: 300,
    seconds: 60,
    baseline: () => prepareCopy(bench, rows, 'commit'),
    operation: () => {
      const name = createRealmName()
      return () => create(name)
    },
  }
}

/** Returns how many realms are created per second by this number of concurrent callers. */
export async function measureRealmsPerSecond({ service }: Bench, callers: number): Promise<number> {
  const start = performance.now()
  const realms = 100
  const caller = async () => {
    for (let created = 0; created < realms / callers; created++)
      await service.createRealm(SYSTEM, { representation: { realm: createRealmName(), enabled: true } }, async () => {})
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return (realms * 1_000) / (performance.now() - start)
}

/** Returns the case that reads a realm file of some megabytes with the position of each client. The baseline reads values only. */
export function readYamlCase(clientCount: number): Case {
  const text = dump(createRealmDocument('read', { clientCount }), { noRefs: true })
  return {
    name: `read YAML (${(text.length / 1e6).toFixed(1)} MB)`,
    size: clientCount,
    rounds: 20,
    seconds: 10,
    baseline: () => async () => load(text),
    operation: () => async () => {
      const [document] = parseDocuments('read.yaml', text)
      for (let index = 0; index < clientCount; index++) document!.locate(['clients', index])
    },
  }
}

/** Returns the cases for realms with this many clients, and the name of such a realm. */
export async function casesWithClients(
  bench: Bench,
  size: number,
  seconds: number,
): Promise<{ realm: string; cases: Case[] }> {
  const realm = createRealmName()
  const rows = await collectRealmRows(bench, realm, () => apply(bench, createSource(realm, { clientCount: size })))
  const newRealmCase = (name: string, work: typeof apply, end: 'commit' | 'rollback'): Case => ({
    name,
    size,
    writesPerClient: true,
    rounds: 30,
    seconds,
    baseline: () => prepareCopy(bench, rows, end),
    operation: () => {
      const source = createSource(createRealmName(), { clientCount: size })
      return () => work(bench, source)
    },
  })
  return {
    realm,
    cases: [
      // These come first: after bulk writes PostgreSQL is busy with clean-up for a while.
      ...(size > 1_000 ? [] : await repeatedApplyCases(bench, realm, size, rows)),
      newRealmCase('apply a new realm', apply, 'commit'),
      newRealmCase('plan a new realm', plan, 'rollback'),
    ],
  }
}

/** Returns the cases for realms with 1,000 clients and this many users, and the name of such a realm. */
export async function casesWithUsers(
  bench: Bench,
  userCount: number,
  seconds: number,
): Promise<{ realm: string; cases: Case[] }> {
  const realm = createRealmName()
  const createUserSource = (name: string) => createSource(name, { clientCount: 1_000, userCount })
  const rows = await collectRealmRows(bench, realm, () => apply(bench, createUserSource(realm)))
  const unchanged = createUserSource(realm)
  const cases: Case[] = [
    {
      name: 'apply unchanged, with users',
      size: userCount,
      rounds: 30,
      seconds: 3,
      baseline: () => () => bench.runStatements([['select 1']]),
      operation: () => () => apply(bench, unchanged),
    },
    {
      name: 'apply a new realm with users',
      size: userCount,
      writesPerClient: true,
      rounds: 10,
      seconds,
      baseline: () => prepareCopy(bench, rows, 'commit'),
      operation: () => {
        const source = createUserSource(createRealmName())
        return () => apply(bench, source)
      },
    },
  ]
  return { realm, cases }
}

/** Returns the cases that apply an applied source again: unchanged, and with one changed field. */
async function repeatedApplyCases(bench: Bench, realm: string, size: number, rows: RealmRows): Promise<Case[]> {
  const unchanged = createSource(realm, { clientCount: size })
  const copy = await copyRealmRows(bench, rows)
  await bench.runStatements(copy.statements)
  return [
    {
      name: 'apply unchanged',
      size,
      rounds: 100,
      seconds: 3,
      baseline: () => () => bench.runStatements([['select 1']]),
      operation: () => () => apply(bench, unchanged),
    },
    {
      name: 'apply one changed field',
      size,
      rounds: 50,
      seconds: 5,
      baseline: () => () => bench.runStatements(oneFieldStatements(copy.realm, ++count)),
      operation: () => {
        const source = createSource(realm, { clientCount: size, note: `note ${++count}` })
        return () => apply(bench, source)
      },
    },
  ]
}

/** Returns the least statements for one changed field: those that write its object, its journal entry and its history entry. */
function oneFieldStatements(realm: number, note: number): Statement[] {
  const text = `note ${note}`
  return [
    [
      `update client set body = jsonb_set(body, '{description}', to_jsonb($1::text))
       where realm = $2 and client_id = 'client-0'`,
      [text, realm],
    ],
    [
      `insert into journal (realm, number, at, actor, operation, kind, object, key, fields)
       values ($1, $2, now(), '{}', 'update', 'client', 'client-0', '["client-0"]', '{"description": "a note"}')`,
      [realm, 1_000_000 + note],
    ],
    [
      `insert into history (realm, version, sources, at, actor, plan)
       values ($1, $2, jsonb_build_array($3::text), now(), '{}', '{"actions": []}')`,
      [realm, 1_000_000 + note, text],
    ],
  ]
}

async function prepareCopy(bench: Bench, rows: RealmRows, end: 'commit' | 'rollback') {
  const { statements } = await copyRealmRows(bench, rows)
  return () => bench.runStatements(statements, end)
}

function apply({ service }: Bench, source: SourceContent) {
  return applySources(service, { actor: { kind: 'source', source: source.name } }, [source])
}

function plan({ service }: Bench, source: SourceContent) {
  return planSources(service, { actor: { kind: 'source', source: source.name } }, [source])
}
