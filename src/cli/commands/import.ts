// Migrates a realm from a Keycloak server: reads it, writes it as files, and applies them.
import { readdir, stat } from 'node:fs/promises'
import { MASTER } from '../../kinds/built-in/index.ts'
import { type Representation, readObjects } from '../../kinds/json.ts'
import { describeObject } from '../../kinds/tree.ts'
import { formatPosition } from '../../lib/source-position.ts'
import { raceAbort } from '../../lib/timing/race-abort.ts'
import { type MigrationOptions, migrateRealm } from '../../realm-file/export/migrate-realm.ts'
import { parseRealm } from '../../realm-file/parse-realm.ts'
import type { AdminServer } from '../../reconcile/read/server/admin-server.ts'
import { readRealm } from '../../reconcile/read/server/read-realm.ts'
import type { SourceContent } from '../../reconcile/read/source-content.ts'
import { renderSummary } from '../../reconcile/report/outcome-text.ts'
import { renderNote } from '../../reconcile/report/text-report.ts'
import type { RunOutcome } from '../../reconcile/run/run.ts'
import { type StoreFlags, withConnection } from '../connect.ts'
import { addSigningKeys, type KeyFlags } from '../inputs/signing-keys.ts'
import { type OtherServerFlags, openOtherServer } from '../login/other-server.ts'
import { paint } from '../paint.ts'
import { renderDocument, writeFolder, writeRealmFile } from '../realm-files.ts'
import { interruptible, runWithProgress } from '../terminal/interruption.ts'
import { adviseOnCredentials, type CheckedRealm, checkImport } from './import-check.ts'
import { readSource, serializeSource } from './source.ts'

/** The flags of the files that an import writes. */
export interface FileFlags {
  readonly dir?: string
  readonly file?: string
  readonly output: string
  readonly secrets?: boolean | undefined
}

interface ImportFlags extends StoreFlags, OtherServerFlags, KeyFlags, Pick<MigrationOptions, 'ids'>, FileFlags {
  readonly realm?: string
  readonly apply: boolean
  readonly strict?: true
  readonly check?: true
  readonly allowMaster?: true
}

/** The flags of the import of a realm. */
type RealmFlags = ImportFlags & { readonly realm: string }

/** `regent import`: reads a realm through the admin API of a Keycloak server, writes it as files, and applies them. */
export async function importCommand(url: string | undefined, options: ImportFlags): Promise<void> {
  const { realm } = options
  if (url === undefined) throw new Error('Pass the URL of a Keycloak server, or --terraform-state and a file.')
  if (realm === undefined) throw new Error('Pass --realm with the realm to migrate.')
  const flags = { ...options, realm }
  if (realm === MASTER && !flags.allowMaster) {
    throw new Error(
      `The ${MASTER} realm has the administrators of every realm, who would then administer this server too. Pass --allow-master to import it.`,
    )
  }
  if (flags.strict && !flags.apply)
    throw new Error(
      'Pass --strict or --no-apply, not both. To check the files, run "regent validate --strict" on them.',
    )
  const from = url.replace(/\/+$/, '')
  if (flags.check) return checkRealm(from, flags)
  const target = flags.file ?? flags.dir ?? realm
  await assertUnoccupied(target, flags)
  const state: ImportState = { files: 'none' }
  await interruptible(
    () => readAndApply({ from, target, state }, flags),
    () => describeFiles(target, state),
  )
}

/** The state of the files of an import. */
interface ImportState {
  files: 'none' | 'incomplete' | 'complete'
}

/** Describes the files that a cancelled import leaves. */
function describeFiles(target: string, { files }: ImportState): string {
  if (files === 'none') return 'No files were written.'
  return files === 'complete' ? `The files stay in ${target}.` : `The files in ${target} are incomplete: delete them.`
}

async function readAndApply(
  { from, target, state }: { readonly from: string; readonly target: string; readonly state: ImportState },
  flags: RealmFlags,
): Promise<void> {
  const { realm } = flags
  const { document, warnings, ...added } = await runWithProgress((signal) =>
    raceAbort(readMigration(openOtherServer(from, flags), from, flags), signal),
  )
  state.files = 'incomplete'
  await writeFiles(target, document, flags)
  state.files = 'complete'
  for (const warning of warnings) console.log(`Note: ${warning}.`)
  const source = await readSource([target], { name: `${from} ${realm}` })
  const users = readObjects(document.users).filter(({ serviceAccountClientId }) => serviceAccountClientId === undefined)
  console.log(renderOpenEnds(source, { users: users.length, ...added }, flags))
  if (flags.apply) await applyOnce(source, realm, flags)
}

/** Reads a realm, with the keys of the file that flags name, and converts it. */
async function readMigration(server: AdminServer, from: string, flags: RealmFlags) {
  const read = await readRealm(server, flags.realm, flags)
  const { realm, providers, credentials } = await addSigningKeys(server, read, flags)
  const migrated = migrateRealm(from, realm, { ...flags, keyProviders: providers })
  return { ...migrated, realm, keyProviders: providers, credentials }
}

/** `regent import --check`: prints what an import carries over, and what does not work afterwards. */
async function checkRealm(from: string, flags: RealmFlags): Promise<void> {
  const server = openOtherServer(from, flags)
  const text = await runWithProgress((signal) =>
    raceAbort(
      readMigration(server, from, flags).then((migration) => checkImport(server, from, migration)),
      signal,
    ),
  )
  console.log(text)
}

/** Writes a realm as a folder, or as the file of `--file`. */
export async function writeFiles(target: string, document: Representation, flags: FileFlags): Promise<void> {
  if (flags.file === undefined) return runWithProgress(() => writeFolder(target, document, flags))
  await writeRealmFile(target, renderDocument(document, flags.output), flags)
  console.log(`Wrote ${target}.`)
}

/** Throws if the target exists: files of an earlier import must not be taken for those of this one. */
export async function assertUnoccupied(target: string, { file, dir }: FileFlags): Promise<void> {
  if (file !== undefined && dir !== undefined) throw new Error('Pass --file or --dir, not both.')
  const existing = await stat(target).catch(() => undefined)
  if (!existing || (existing.isDirectory() && !(await readdir(target)).length)) return
  throw new Error(
    `${target} ${existing.isDirectory() ? 'is not empty' : 'exists already'}. Pass another folder with --dir, or a file with --file.`,
  )
}

/** Lists what Keycloak does not export, with what to do about it. */
function renderOpenEnds(
  { documents }: SourceContent,
  { users, keyProviders, credentials }: Pick<CheckedRealm, 'keyProviders' | 'credentials'> & { readonly users: number },
  { secrets }: ImportFlags,
): string {
  const masks = documents.flatMap((document) =>
    parseRealm(document).objects.flatMap(({ kind, key, maskedSecrets: masked, origin }) =>
      masked.map((path) => `  ${formatPosition(origin.locate(path))}  ${path} of ${describeObject(kind, key)}`),
    ),
  )
  return [
    ...(masks.length
      ? [
          'Keycloak masks these secrets (**********). Replace each with its value or a variable,',
          'such as $(env:SECRET):',
        ]
      : []),
    ...masks,
    keyProviders.size
      ? `The files contain the keys of ${[...keyProviders].sort().join(', ')}: tokens that these have signed stay valid if the issuer stays the same.`
      : 'The realm gets new signing keys: tokens of the old server are not valid here. With --keys it keeps them.',
    'Sessions are not imported: users log in again, and applications need new refresh and offline tokens.',
    ...(users
      ? [
          `Keycloak does not return passwords: ${users === 1 ? '1 user needs' : `${users} users need`} a new one.`,
          'Hashes of passwords count only when users are created.',
          `To keep the passwords, ${adviseOnCredentials(credentials)}.`,
        ]
      : []),
    ...(secrets ? [] : ['Clients get new secrets. With --secrets they keep theirs, and the files contain them.']),
  ].join('\n')
}

/** Applies the files as a source that is then forgotten, so that the next source to apply them manages the objects. */
async function applyOnce(source: Awaited<ReturnType<typeof readSource>>, realm: string, flags: ImportFlags) {
  await withConnection(flags, 'create', async (connection) => {
    const path = `/regent/v1/apply${flags.strict ? '?strict=true' : ''}`
    const outcome = await connection.request<RunOutcome>('POST', path, {
      body: serializeSource(source),
      reportsProgress: true,
    })
    const query = new URLSearchParams({ source: source.name })
    await connection.request('DELETE', `/regent/v1/sources/${encodeURIComponent(realm)}?${query}`)
    // The created objects are not listed: they are in the files.
    const notes = outcome.realms.flatMap(({ plan }) => plan.notes).map((note) => renderNote(note, paint))
    console.log([...notes, renderSummary(outcome, 'applied')].join('\n'))
  })
}
