// The table of commands. The module of each is loaded when it runs, so that help and the small commands start fast.
import { Argument, type Command, type Option } from 'commander'
import { settings } from '../config.ts'
import {
  allowLockOut,
  count,
  documentOptions,
  fileFormat,
  option,
  output,
  ownStoreOptions,
  settingOption,
  sourceName,
  storeOptions,
} from './options.ts'
import { settingsOptions } from './settings-flags.ts'

/** What a command gets from the command line, as commander types it: values, whose types the arguments and options make. */
type Given = Parameters<Parameters<Command['action']>[0]>

/** A command, or a group of commands. */
export interface CommandEntry {
  readonly name: string
  readonly summary: string
  readonly arguments?: readonly Argument[]
  readonly options?: readonly Option[]
  /** Gets the values of the arguments, and those of the options by name. Absent: a group. */
  readonly run?: (values: Given, flags: Given[number]) => Promise<void>
  readonly commands?: readonly CommandEntry[]
}

const argument = (name: string, description?: string) => new Argument(name, description)

const documents = argument('<source>', 'file, folder or git URL')
const ofSource = argument('<source>', 'name of the source')
const realm = argument('<realm>')
const plan = argument('<id>', 'id of the plan')
const secretName = argument('<name>', 'as documents name it')

/** The commands, in the order of the help. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'serve',
    summary: 'start the server, reconcile its sources and keep watching them',
    options: Object.values(settings).map(settingOption),
    run: async (_values, flags) => (await import('./commands/serve.ts')).serve(flags),
  },
  {
    name: 'init',
    summary: 'write a realm file to start from',
    arguments: [argument('[file]', 'file to write').default('my-realm.yaml')],
    run: async ([file]) => (await import('./commands/init.ts')).init(file),
  },
  {
    name: 'validate',
    summary: 'check documents without a store',
    arguments: [documents],
    options: documentOptions,
    run: async ([source], flags) => (await import('./commands/validate.ts')).validate(source, flags),
  },
  {
    name: 'lint',
    summary: 'show what documents state that is advised against, such as wildcards in redirect addresses',
    arguments: [documents],
    options: [option('--strict', 'exit with 1 when there is something'), ...documentOptions, output('markdown')],
    run: async ([source], flags) => (await import('./commands/lint.ts')).lint(source, flags),
  },
  {
    name: 'schema',
    summary: 'print the JSON schema of documents, with which editors complete and check them',
    run: async () => (await import('./commands/schema.ts')).schema(),
  },
  {
    name: 'plan',
    summary: 'show what applying documents would change',
    arguments: [documents],
    options: [
      ...storeOptions,
      ...settingsOptions,
      sourceName,
      ...documentOptions,
      allowLockOut,
      option('--save [file]', 'keep the plan, to be applied by its id, and write it to this file'),
      option('--detailed-exitcode', 'exit with 0 when there is nothing to do, 2 when there are changes, 1 on an error'),
      output('markdown'),
    ],
    run: async ([source], flags) => (await import('./commands/plan.ts')).plan(source, flags),
  },
  {
    name: 'apply',
    summary: 'apply documents, each realm in one transaction',
    arguments: [argument('[source]', 'file, folder or git URL')],
    options: [
      ...storeOptions,
      ...settingsOptions,
      option('--plan <id>', 'exactly this saved plan instead, by its id or file'),
      sourceName,
      ...documentOptions,
      allowLockOut,
      output('markdown'),
    ],
    run: async ([source], flags) => (await import('./commands/apply.ts')).apply(source, flags),
  },
  {
    name: 'plans',
    summary: 'list saved plans and those that wait for an approval, or show one',
    arguments: [argument('[id]', 'only this plan, with what it does')],
    options: [...storeOptions, output('markdown')],
    run: async ([id], flags) => (await import('./commands/plans.ts')).plans(id, flags),
  },
  {
    name: 'approve',
    summary: 'approve a plan that is pending approval',
    arguments: [plan],
    options: [
      ...storeOptions,
      option('--with-credentials', 'adopted users get their declared passwords'),
      output('markdown'),
    ],
    run: async ([id], flags) => (await import('./commands/plans.ts')).approve(id, flags),
  },
  {
    name: 'reject',
    summary: 'forget a saved plan',
    arguments: [plan],
    options: storeOptions,
    run: async ([id], flags) => (await import('./commands/plans.ts')).reject(id, flags),
  },
  {
    name: 'drift',
    summary: 'show what somebody changed since documents were applied',
    arguments: [argument('[realm]', 'only this realm')],
    options: [
      ...storeOptions,
      option('--watch', 'go on, and tell of each change as it happens; Ctrl-C ends it'),
      option('--unmanaged', 'list unmanaged objects; users are counted'),
      option('--users', 'list users, too'),
      output('markdown'),
    ],
    run: async ([realm], flags) => {
      if (flags.unmanaged) return (await import('./commands/unmanaged.ts')).unmanaged(realm, flags)
      if (flags.watch) return (await import('./commands/drift-watch.ts')).watchDrift(realm, flags)
      return (await import('./commands/drift.ts')).drift(realm, flags)
    },
  },
  {
    name: 'accept',
    summary: 'print the YAML to commit that declares the live values',
    arguments: [
      realm,
      argument(
        '[path...]',
        'only these objects or fields, such as clients, clients/my-app or clients/my-app/redirectUris',
      ),
    ],
    options: [...storeOptions, option('--users', 'include users'), output()],
    run: async ([realm, paths], flags) => (await import('./commands/accept.ts')).accept(realm, paths, flags),
  },
  {
    name: 'why',
    summary: 'tell which documents state something, and who set it when',
    arguments: [realm, argument('<path>', 'in the steps of a realm file, such as clients/my-app/redirectUris')],
    options: [...storeOptions, output()],
    run: async ([realm, path], flags) => (await import('./commands/why.ts')).why(realm, path, flags),
  },
  {
    name: 'history',
    summary: 'list the last revisions of a realm',
    arguments: [realm],
    options: [...storeOptions, count('--max <number>', 'how many', 50), output('markdown')],
    run: async ([realm], flags) => (await import('./commands/history.ts')).history(realm, flags),
  },
  {
    name: 'diff',
    summary: 'show what leads from one revision of a realm to another',
    arguments: [
      realm,
      argument('<from>', 'a revision, such as r41'),
      argument('[to]', 'a revision (default: what is live)'),
    ],
    options: [...storeOptions, output('markdown')],
    run: async ([realm, from, to], flags) => (await import('./commands/history.ts')).diff(realm, { from, to }, flags),
  },
  {
    name: 'rollback',
    summary: 'go back to a revision of a realm, and hold its sources',
    arguments: [realm, argument('<revision>', 'such as r41')],
    options: [...storeOptions, option('--plan', 'only show what would be done'), output('markdown')],
    run: async ([realm, revision], flags) => (await import('./commands/history.ts')).rollback(realm, revision, flags),
  },
  {
    name: 'source',
    summary: 'the sources that have applied documents',
    commands: [
      {
        name: 'list',
        summary: 'list the sources, realm by realm',
        options: [...storeOptions, output()],
        run: async (_values, flags) => (await import('./commands/source.ts')).list(flags),
      },
      {
        name: 'forget',
        summary: 'let go of what a source owns in a realm: it stays, and nobody states it',
        arguments: [ofSource, realm],
        options: storeOptions,
        run: async ([name, realm], flags) => (await import('./commands/source.ts')).forget(name, realm, flags),
      },
      {
        name: 'show',
        summary: 'show how a source is doing: conditions, and the last attempts',
        arguments: [ofSource],
        options: [...storeOptions, output()],
        run: async ([name], flags) => (await import('./source-states.ts')).show(name, flags),
      },
      {
        name: 'suspend',
        summary: 'do not read a source until it is resumed',
        arguments: [ofSource],
        options: storeOptions,
        run: async ([name], flags) => (await import('./source-states.ts')).suspend(name, flags),
      },
      {
        name: 'resume',
        summary: 'resume a source that was suspended, also by a rollback',
        arguments: [ofSource, argument('[realm]', 'only where a rollback of this realm holds it')],
        options: storeOptions,
        run: async ([name, realm], flags) =>
          realm === undefined
            ? (await import('./source-states.ts')).resumeAll(name, flags)
            : (await import('./commands/source.ts')).resume(name, realm, flags),
      },
      {
        name: 'force',
        summary: 'have a source read and applied now',
        arguments: [ofSource],
        options: storeOptions,
        run: async ([name], flags) => (await import('./source-states.ts')).force(name, flags),
      },
      {
        name: 'rename',
        summary: 'call a source otherwise: what it owns stays its own',
        arguments: [ofSource, argument('<name>', 'the new name')],
        options: storeOptions,
        run: async ([name, to], flags) => (await import('./source-states.ts')).rename(name, to, flags),
      },
    ],
  },
  {
    name: 'secret',
    summary: 'secrets that documents name as $(generated:NAME)',
    commands: [
      {
        name: 'list',
        summary: 'list the secrets that were made in a realm',
        arguments: [realm],
        options: [...storeOptions, output()],
        run: async ([realm], flags) => (await import('./commands/secret.ts')).list(realm, flags),
      },
      {
        name: 'get',
        summary: 'print a secret',
        arguments: [realm, ofSource, secretName],
        options: storeOptions,
        run: async ([realm, source, name], flags) =>
          (await import('./commands/secret.ts')).get({ realm, source, name }, flags),
      },
      {
        name: 'rotate',
        summary: 'make another secret: it counts from the next apply of the source on',
        arguments: [realm, ofSource, secretName],
        options: storeOptions,
        run: async ([realm, source, name], flags) =>
          (await import('./commands/secret.ts')).rotate({ realm, source, name }, flags),
      },
    ],
  },
  {
    name: 'export',
    summary: 'write a realm as a document',
    arguments: [realm],
    options: [
      ...storeOptions,
      option('--dir <folder>', 'write a file for each object into this folder'),
      option('--full', 'with everything that creation would give, too'),
      option('--secrets', 'secrets in the clear instead of masks'),
      option('--ids', 'with the ids of all objects'),
      fileFormat('form of the document'),
    ],
    run: async ([realm], flags) => (await import('./commands/export.ts')).exportCommand(realm, flags),
  },
  {
    name: 'import',
    summary: 'move in: read a realm of another server with this admin API, write it as files, and apply them',
    arguments: [
      argument('<url>', 'address of the other server, such as https://old.example.com or https://old.example.com/auth'),
    ],
    options: [
      ...storeOptions,
      option('--realm <realm>', 'the realm to read').makeOptionMandatory(),
      option('--dir <folder>', 'write a file for each object into this folder (default: the name of the realm)'),
      option('--file <file>', 'write one file'),
      fileFormat('form of the files'),
      option('--no-apply', 'only write files'),
      option('--secrets', 'with the secrets of clients, in the clear'),
      option('--ids', 'with the ids of all objects, and not only of people'),
      option('--allow-master', 'also the realm of those who administer every realm'),
      option('--from-user <name>', 'administrator there (REGENT_FROM_USER)'),
      option('--from-password <password>', 'password of that administrator (REGENT_FROM_PASSWORD)'),
      option('--from-token <token>', 'access token for that server (REGENT_FROM_TOKEN)'),
      option('--from-client <client>', 'client to log in with').default('admin-cli'),
      option('--from-client-secret <secret>', 'secret of that client (REGENT_FROM_CLIENT_SECRET)'),
      option('--from-realm <realm>', 'realm to log in at').default('master'),
    ],
    run: async ([url], flags) => (await import('./commands/import.ts')).importCommand(url, flags),
  },
  {
    name: 'get',
    summary: 'read from the admin API',
    arguments: [argument('<path>', 'path below /admin/realms, such as my-realm/clients')],
    options: storeOptions,
    run: async ([path], flags) => (await import('./commands/get.ts')).get(path, flags),
  },
  {
    name: 'token',
    summary: 'print an access token of an administrator, for the running server',
    options: storeOptions,
    run: async (_values, flags) => (await import('./commands/token.ts')).token(flags),
  },
  {
    name: 'admin-password',
    summary: 'give an administrator a new password: on a running server, or on the store when it is lost',
    arguments: [argument('[user]', 'user of the master realm').default('admin')],
    options: [
      ...storeOptions,
      option('--new-password <password>', 'the new password (REGENT_NEW_PASSWORD; default: it is asked for)'),
      option('--new-password-file <file>', 'file whose first line is the new password'),
    ],
    run: async ([user], flags) => (await import('./commands/admin-password.ts')).adminPassword(user, flags),
  },
  {
    name: 'replace-key',
    summary: 'open the store with another key from now on; nothing that it keeps changes',
    options: [
      option('--new-key-file <file>', 'file with the new key: at least 32 bytes in base64').makeOptionMandatory(),
      option('--database <URL>', 'open this PostgreSQL database (REGENT_DATABASE)'),
      option('--data <folder>', 'open the embedded store in this folder (REGENT_DATA; default: data)'),
      option('--key-file <file>', 'file with the key that it has (REGENT_KEY_FILE)'),
    ],
    run: async (_values, flags) => (await import('./commands/replace-key.ts')).replaceKey(flags),
  },
  {
    name: 'backup',
    summary: 'write everything that the store keeps into a file: every realm, people, sessions and the past',
    arguments: [argument('<file>', 'file to write')],
    options: storeOptions,
    run: async ([file], flags) => (await import('./commands/backup.ts')).backup(file, flags),
  },
  {
    name: 'restore',
    summary: 'restore a file of regent backup into a store that holds nothing yet',
    arguments: [argument('<file>', 'file of regent backup')],
    options: ownStoreOptions,
    run: async ([file], flags) => (await import('./commands/restore.ts')).restoreCommand(file, flags),
  },
  {
    name: 'migrate',
    summary: 'move everything that a store keeps into another one, which holds nothing yet',
    options: [
      ...ownStoreOptions,
      option('--to <place>', 'URL of a PostgreSQL database, or folder of an embedded store').makeOptionMandatory(),
    ],
    run: async (_values, flags) => (await import('./commands/migrate.ts')).migrate(flags),
  },
]
