// `regent diff` between two sides: files in an environment, or live realms. Nothing is written.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { Representation } from '../../kinds/json.ts'
import { createDocument } from '../../realm-file/yaml/document.ts'
import { type ComparedRealm, compareRealms } from '../../reconcile/merge/compare-realms.ts'
import { readDesiredRealms } from '../../reconcile/merge/desired-realm.ts'
import { type Action, FORMAT_VERSION } from '../../reconcile/model/action.ts'
import { renderMarkdownActions } from '../../reconcile/report/markdown-report.ts'
import { renderActions } from '../../reconcile/report/text-report.ts'
import { openVault, type Vault } from '../../service/context/vault.ts'
import { type StoreFlags, withConnection } from '../connect.ts'
import { paint } from '../paint.ts'
import { type Format, print } from '../print.ts'
import { diffRevisions, isRevision } from './history.ts'
import { readDocuments, type SourceFlags } from './source.ts'

type DiffFlags = StoreFlags & SourceFlags & { readonly output: Format; readonly full?: true }

/** A realm of both sides with its differences. */
interface RealmDifference {
  readonly realm: string
  readonly actions: readonly Action[]
}

/** `regent diff`: prints the changes between revisions of a realm, or from one side to another. */
export async function diff(
  [first, second, third]: readonly [string, string, string | undefined],
  flags: DiffFlags,
): Promise<void> {
  if (isRevision(second) && !isFile(first)) return diffRevisions(first, { from: second, to: third }, flags)
  if (third !== undefined)
    throw new Error(`${second} is no revision, so that ${third} is one argument too many. Pass two sides.`)
  const vault = openVault(randomBytes(32))
  const read = (side: string) => (isFile(side) ? readFiles(side, flags, vault) : readLiveRealm(side, flags, vault))
  const [from, to] = [await read(first), await read(second)]
  const realms = pairRealms([first, from], [second, to]).map(
    ([before, after]): RealmDifference => ({
      realm: after.name,
      actions: compareRealms(before, after),
    }),
  )
  const differing = realms.filter(({ actions }) => actions.length)
  const render = (renderRealm: (difference: RealmDifference) => string) => () =>
    differing.length ? differing.map(renderRealm).join('\n\n') : 'No difference.'
  print(
    flags.output,
    { formatVersion: FORMAT_VERSION, realms },
    {
      text: render(({ realm, actions }) =>
        [
          paint('bold', `realm ${realm}: ${first} → ${second}`),
          '',
          renderActions(actions, { paint, detail: flags.full ? 'full' : 'fields' }),
        ].join('\n'),
      ),
      markdown: render(({ realm, actions }) => `### ${realm}\n\n${renderMarkdownActions(actions)}`),
    },
  )
}

/** Whether a side is files: it has a slash, is the name of a document, or of a file or folder in the working directory. */
function isFile(side: string): boolean {
  return /[/\\]|\.(ya?ml|json)(@|$)|^\.{1,2}(@|$)/.test(side) || existsSync(parseFiles(side).path)
}

/** Parses `PATH` or `PATH@ENVIRONMENT`. */
function parseFiles(side: string): { readonly path: string; readonly environment: string | undefined } {
  const at = side.lastIndexOf('@')
  return at < 0 || existsSync(side)
    ? { path: side, environment: undefined }
    : { path: side.slice(0, at), environment: side.slice(at + 1) }
}

async function readFiles(side: string, flags: DiffFlags, vault: Vault): Promise<ComparedRealm[]> {
  const { path, environment = flags.environment } = parseFiles(side)
  const { documents, unknownFields } = await readDocuments([path], { ...flags, environment })
  return readDesiredRealms(documents, { vault, unknownFields })
}

/** Reads `REALM`, of the store that the flags name, or `CONTEXT:REALM`. */
async function readLiveRealm(side: string, flags: DiffFlags, vault: Vault): Promise<ComparedRealm[]> {
  const colon = side.indexOf(':')
  const { server: _, database: __, data: ___, ...rest } = flags
  const store = colon < 0 ? flags : { ...rest, context: side.slice(0, colon) }
  const path = `/regent/v1/export/${encodeURIComponent(side.slice(colon + 1))}`
  const exports = await withConnection(store, 'fail', async (connection) => [
    await connection.request<Representation>('GET', `${path}?full=true`),
    await connection.request<Representation>('GET', path),
  ])
  const [all, declarable] = exports.map(
    (document) => readDesiredRealms([createDocument(side, document)], { vault, unknownFields: 'warn' })[0]!,
  )
  return [{ ...all!, declarable }]
}

/** Pairs the realms of both sides: by name, or the only one of each. */
function pairRealms(
  [first, from]: readonly [string, readonly ComparedRealm[]],
  [second, to]: readonly [string, readonly ComparedRealm[]],
): [ComparedRealm, ComparedRealm][] {
  if (from.length === 1 && to.length === 1) return [[from[0]!, to[0]!]]
  const isLive = [...from, ...to].some(({ declarable }) => declarable)
  const names = [...new Set([...from, ...to].map(({ name }) => name))].sort()
  const pairs = names.flatMap((name): [ComparedRealm, ComparedRealm][] => {
    const [before, after] = [from, to].map((realms) => realms.find((realm) => realm.name === name))
    if (isLive && !(before && after)) return []
    const missing: ComparedRealm = { name, objects: new Map() }
    return [[before ?? missing, after ?? missing]]
  })
  if (!pairs.length) throw new Error(`${first} and ${second} have no realm in common. Pass files of one realm.`)
  return pairs
}
