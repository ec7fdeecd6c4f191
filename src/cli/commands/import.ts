// Moving in: a realm of another server as files, and applied.
import { readdir, stat } from 'node:fs/promises'
import { MASTER } from '../../kinds/built-in/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { describe } from '../../kinds/tree.ts'
import { type MoveOptions, movedIn } from '../../realm-file/export/moved-in.ts'
import { parseRealm } from '../../realm-file/parse.ts'
import { renderPosition } from '../../realm-file/yaml/problem.ts'
import { AdminServer } from '../../reconcile/read/server/admin-server.ts'
import type { LogIn } from '../../reconcile/read/server/log-in.ts'
import { readRealm } from '../../reconcile/read/server/realm.ts'
import type { SourceState } from '../../reconcile/read/source-state.ts'
import { summary } from '../../reconcile/report/outcome-text.ts'
import { renderNote } from '../../reconcile/report/render.ts'
import type { Outcome } from '../../reconcile/run/run.ts'
import { connect, type StoreFlags } from '../connect.ts'
import { paint } from '../paint.ts'
import { renderDocument, writeFolder, writeRealmFile } from '../realm-files.ts'
import { readSource, wire } from './source.ts'

interface ImportFlags extends StoreFlags, MoveOptions {
  readonly realm: string
  readonly dir?: string
  readonly file?: string
  readonly output: string
  readonly apply: boolean
  readonly allowMaster?: true
  readonly fromRealm: string
  readonly fromClient: string
  readonly fromClientSecret?: string
  readonly fromUser?: string
  readonly fromPassword?: string
  readonly fromToken?: string
}

/** `regent import`: reads a realm of a server with this admin API, writes it as files, and applies them. */
export async function importCommand(url: string, flags: ImportFlags): Promise<void> {
  const { realm } = flags
  if (realm === MASTER && !flags.allowMaster) {
    throw new Error(
      `${MASTER} holds the administrators of every realm, who would administer this server too: give --allow-master if that is meant`,
    )
  }
  if (flags.file !== undefined && flags.dir !== undefined) throw new Error('give --file or --dir, and not both')
  const target = flags.file ?? flags.dir ?? realm
  await refuseOccupied(target)
  const from = url.replace(/\/+$/, '')
  const progress = counter(`Reading the realm ${realm} of ${from}`)
  const read = await readRealm(new AdminServer(from, logInOf(from, flags), progress.count), realm, flags).finally(
    progress.end,
  )
  const { document, notices } = movedIn(from, read, flags)
  if (flags.file === undefined) await writeFolder(target, document, flags)
  else {
    await writeRealmFile(target, renderDocument(document, flags.output), flags)
    console.log(`Wrote ${target}.`)
  }
  for (const notice of notices) console.log(`Not moved: ${notice}.`)
  const source = await readSource(target, { name: `${from} ${realm}` })
  const users = (document.users ?? []) as readonly Representation[]
  const people = users.filter(({ serviceAccountClientId }) => serviceAccountClientId === undefined).length
  console.log(openEnds(source, people, flags))
  if (flags.apply) await applyOnce(source, realm, flags)
}

/** What was there before must not be taken for what was read. */
async function refuseOccupied(target: string): Promise<void> {
  const found = await stat(target).catch(() => undefined)
  if (!found || (found.isDirectory() && !(await readdir(target)).length)) return
  throw new Error(
    `${target} is ${found.isDirectory() ? 'not empty' : 'there already'}: name another place with --dir or --file`,
  )
}

function logInOf(from: string, flags: ImportFlags): LogIn {
  const { REGENT_FROM_TOKEN, REGENT_FROM_USER, REGENT_FROM_PASSWORD, REGENT_FROM_CLIENT_SECRET } = process.env
  const token = flags.fromToken ?? REGENT_FROM_TOKEN
  if (token) return { token }
  const user = flags.fromUser ?? REGENT_FROM_USER
  const password = flags.fromPassword ?? REGENT_FROM_PASSWORD
  const clientSecret = flags.fromClientSecret ?? (REGENT_FROM_CLIENT_SECRET || undefined)
  const person = user && password ? { user, password } : undefined
  if (!person && clientSecret === undefined) {
    throw new Error(
      `${from} wants to know who asks: give --from-user and --from-password, --from-client and --from-client-secret, or --from-token (REGENT_FROM_USER, …)`,
    )
  }
  return { realm: flags.fromRealm, client: flags.fromClient, clientSecret, person }
}

/** Tells on a terminal how many answers have come. */
function counter(what: string): { count: () => void; end: () => void } {
  if (!process.stderr.isTTY) return { count: () => {}, end: () => {} }
  let answers = 0
  return {
    count: () => process.stderr.write(`\r${what}: ${++answers} answers`),
    end: () => process.stderr.write('\r\x1b[K'),
  }
}

/** What the other server does not show, and what to do about it. */
function openEnds({ documents }: SourceState, people: number, { secrets }: ImportFlags): string {
  const masks = documents.flatMap((document) =>
    parseRealm(document).objects.flatMap(({ kind, key, masked, origin }) =>
      masked.map((path) => `  ${renderPosition(origin.locate(path))}  ${path} of ${describe(kind, key)}`),
    ),
  )
  return [
    ...(masks.length
      ? [
          'Secrets that no server shows stand as ********** and are missing here until you',
          'write them there, such as $(env:SECRET):',
        ]
      : []),
    ...masks,
    'Keys that sign tokens are made anew.',
    ...(people
      ? [`Passwords are never shown: ${people === 1 ? 'one person needs' : `${people} people need`} a new one.`]
      : []),
    ...(secrets ? [] : ['Clients get new secrets; with --secrets they keep theirs, which the files then hold.']),
  ].join('\n')
}

/** Applies the files, and owns nothing afterwards: whoever applies them next does. */
async function applyOnce(source: Awaited<ReturnType<typeof readSource>>, realm: string, flags: StoreFlags) {
  const connection = await connect(flags)
  try {
    const outcome = (await connection.request('POST', '/regent/v1/apply', { body: wire(source) })) as Outcome
    const own = new URLSearchParams({ source: source.name })
    await connection.request('DELETE', `/regent/v1/sources/${encodeURIComponent(realm)}?${own}`)
    // What was made stands in the files.
    const notes = outcome.realms.flatMap(({ plan }) => plan.notes).map((note) => renderNote(note, paint))
    console.log([...notes, summary(outcome, 'applied')].join('\n'))
  } finally {
    await connection.close()
  }
}
