// What is measured. Each operation stands beside the least that could do the same.
import { dump, load } from 'js-yaml'
import { parseDocuments } from '../src/realm-file/yaml/parse-documents.ts'
import type { SourceContent } from '../src/reconcile/read/source-content.ts'
import { applySources, planSources } from '../src/reconcile/run/run.ts'
import { SYSTEM } from '../src/service/context/service.ts'
import { realmOf, sourceOf } from './data.ts'
import { copyOf, type Rows, rowsOf } from './floors.ts'
import type { Bench, Case, Statement } from './measure.ts'

let count = 0
const newName = () => `measured-${++count}`

/** The creation of a realm with nothing of its own. */
export async function creation(bench: Bench): Promise<Case> {
  const create = (realm: string) =>
    bench.service.createRealm(SYSTEM, { representation: { realm, enabled: true } }, async () => {})
  for (let warm = 0; warm < 10; warm++) await create(newName())
  const realm = newName()
  const rows = await rowsOf(bench, realm, () => create(realm))
  return {
    name: 'create a realm',
    rounds: 300,
    seconds: 60,
    floor: () => copying(bench, rows, 'commit'),
    operation: () => {
      const name = newName()
      return () => create(name)
    },
  }
}

/** How many realms a second come into being, with so many callers at once. */
export async function realmsPerSecond({ service }: Bench, callers: number): Promise<number> {
  const start = performance.now()
  const realms = 100
  const caller = async () => {
    for (let made = 0; made < realms / callers; made++)
      await service.createRealm(SYSTEM, { representation: { realm: newName(), enabled: true } }, async () => {})
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return (realms * 1_000) / (performance.now() - start)
}

/** Reading a realm file of some megabytes, with the place of each client; the floor reads values only. */
export function reading(size: number): Case {
  const text = dump(realmOf('read', size), { noRefs: true })
  return {
    name: `read YAML (${(text.length / 1e6).toFixed(1)} MB)`,
    size,
    rounds: 20,
    seconds: 10,
    floor: () => async () => load(text),
    operation: () => async () => {
      const [document] = parseDocuments('read.yaml', text)
      for (let at = 0; at < size; at++) document!.locate(['clients', at])
    },
  }
}

/** The cases of a realm with so many clients, and the name of one. */
export async function sized(bench: Bench, size: number, seconds: number): Promise<{ realm: string; cases: Case[] }> {
  const realm = newName()
  const rows = await rowsOf(bench, realm, () => apply(bench, sourceOf(realm, size)))
  const fresh = (name: string, work: typeof apply, end: 'commit' | 'rollback'): Case => ({
    name,
    size,
    writesEach: true,
    rounds: 30,
    seconds,
    floor: () => copying(bench, rows, end),
    operation: () => {
      const source = sourceOf(newName(), size)
      return () => work(bench, source)
    },
  })
  return {
    realm,
    cases: [
      // First, since PostgreSQL cleans up for a while after bulk writes.
      ...(size > 1_000 ? [] : await again(bench, realm, size, rows)),
      fresh('apply a new realm', apply, 'commit'),
      fresh('plan a new realm', plan, 'rollback'),
    ],
  }
}

/** The cases of a realm with so many people: as a new one beside 1,000 clients, and with nothing to do. And the name of one. */
export async function peopled(
  bench: Bench,
  people: number,
  seconds: number,
): Promise<{ realm: string; cases: Case[] }> {
  const clients = 1_000
  const realm = newName()
  const of = (name: string) => sourceOf(name, clients, 'first', people)
  const rows = await rowsOf(bench, realm, () => apply(bench, of(realm)))
  const unchanged = of(realm)
  const cases: Case[] = [
    {
      name: 'apply what is unchanged, with people',
      size: people,
      rounds: 30,
      seconds: 3,
      floor: () => () => bench.raw([['select 1']]),
      operation: () => () => apply(bench, unchanged),
    },
    {
      name: 'apply a new realm with people',
      size: people,
      writesEach: true,
      rounds: 10,
      seconds,
      floor: () => copying(bench, rows, 'commit'),
      operation: () => {
        const source = of(newName())
        return () => apply(bench, source)
      },
    },
  ]
  return { realm, cases }
}

/** Runs of a source that has been applied: with nothing to do, and with one field changed. */
async function again(bench: Bench, realm: string, size: number, rows: Rows): Promise<Case[]> {
  const unchanged = sourceOf(realm, size)
  const copy = await copyOf(bench, rows)
  await bench.raw(copy.statements)
  return [
    {
      name: 'apply what is unchanged',
      size,
      rounds: 100,
      seconds: 3,
      floor: () => () => bench.raw([['select 1']]),
      operation: () => () => apply(bench, unchanged),
    },
    {
      name: 'apply one changed field',
      size,
      rounds: 50,
      seconds: 5,
      floor: () => () => bench.raw(oneChange(copy.realm, ++count)),
      operation: () => {
        const source = sourceOf(realm, size, `note ${++count}`)
        return () => apply(bench, source)
      },
    },
  ]
}

/** The least that a changed field costs: its object, its entry of the journal, its line of history. */
function oneChange(realm: number, note: number): Statement[] {
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

async function copying(bench: Bench, rows: Rows, end: 'commit' | 'rollback') {
  const { statements } = await copyOf(bench, rows)
  return () => bench.raw(statements, end)
}

function apply({ service }: Bench, source: SourceContent) {
  return applySources(service, { actor: { kind: 'source', source: source.name } }, [source])
}

function plan({ service }: Bench, source: SourceContent) {
  return planSources(service, { actor: { kind: 'source', source: source.name } }, [source])
}
