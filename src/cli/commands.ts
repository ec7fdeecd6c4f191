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
  sourceNameOption,
  storeOptions,
} from './options.ts'
import { sourceSettingsOptions } from './source-settings-options.ts'

/** The values that commander passes to an action. Their types follow from the arguments and options. */
type ParsedValues = Parameters<Parameters<Command['action']>[0]>

/** A command, or a group of commands. */
export interface CommandEntry {
  readonly name: string
  readonly summary: string
  readonly arguments?: readonly Argument[]
  readonly options?: readonly Option[]
  /** Runs the command with the values of its arguments and its options by name. Absent for a group. */
  readonly run?: (values: ParsedValues, flags: ParsedValues[number]) => Promise<void>
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
    summary: 'start the server and reconcile its sources',
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
    summary: 'check documents without opening a store',
    arguments: [documents],
    options: documentOptions,
    run: async ([source], flags) => (await import('./commands/validate.ts')).validate(source, flags),
  },
  {
    name: 'lint',
    summary: 'show risky settings in documents',
    arguments: [documents],
    options: [option('--strict', 'exit with 1 on any finding'), ...documentOptions, output('markdown')],
    run: async ([source], flags) => (await import('./commands/lint.ts')).lint(source, flags),
  },
  {
    name: 'schema',
    summary: 'print the JSON schema of documents for editors',
    run: async () => (await import('./commands/schema.ts')).schema(),
  },
  {
    name: 'plan',
    summary: 'show the changes that an apply would make',
    arguments: [documents],
    options: [
      ...storeOptions,
      ...sourceSettingsOptions,
      sourceNameOption,
      ...documentOptions,
      allowLockOut,
      option('--save [file]', 'save the plan on the server, and in this file if given'),
      option('--detailed-exitcode', 'exit with 0 without changes, 2 with changes, 1 on an error'),
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
      ...sourceSettingsOptions,
      option('--plan <id>', 'apply this saved plan, given by its id or file'),
      sourceNameOption,
      ...documentOptions,
      allowLockOut,
      output('markdown'),
    ],
    run: async ([source], flags) => (await import('./commands/apply.ts')).apply(source, flags),
  },
  {
    name: 'plans',
    summary: 'list saved plans, or show one',
    arguments: [argument('[id]', 'show only this plan, with its changes')],
    options: [...storeOptions, output('markdown')],
    run: async ([id], flags) => (await import('./commands/plans.ts')).plans(id, flags),
  },
  {
    name: 'approve',
    summary: 'approve a plan that is pending approval',
    arguments: [plan],
    options: [
      ...storeOptions,
      option('--with-credentials', 'also give adopted users their declared passwords'),
      output('markdown'),
    ],
    run: async ([id], flags) => (await import('./commands/plans.ts')).approve(id, flags),
  },
  {
    name: 'reject',
    summary: 'delete a saved plan',
    arguments: [plan],
    options: storeOptions,
    run: async ([id], flags) => (await import('./commands/plans.ts')).reject(id, flags),
  },
  {
    name: 'drift',
    summary: 'show live changes of managed objects',
    arguments: [argument('[realm]', 'only this realm')],
    options: [
      ...storeOptions,
      option('--watch', 'print each change as it happens, until Ctrl-C'),
      option('--unmanaged', 'list unmanaged objects and the number of unmanaged users'),
      option('--users', 'list unmanaged users as well'),
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
    summary: 'show which documents declare a value, and who set it',
    arguments: [realm, argument('<path>', 'path as in a realm file, such as clients/my-app/redirectUris')],
    options: [...storeOptions, output()],
    run: async ([realm, path], flags) => (await import('./commands/why.ts')).whyCommand(realm, path, flags),
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
    summary: 'show the changes between two revisions of a realm',
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
    summary: 'roll back a realm and suspend its sources',
    arguments: [realm, argument('<revision>', 'such as r41')],
    options: [...storeOptions, option('--plan', 'only show the plan of the rollback'), output('markdown')],
    run: async ([realm, revision], flags) => (await import('./commands/history.ts')).rollback(realm, revision, flags),
  },
  {
    name: 'source',
    summary: 'list and control sources',
    commands: [
      {
        name: 'list',
        summary: 'list sources by realm',
        options: [...storeOptions, output()],
        run: async (_values, flags) => (await import('./commands/source.ts')).list(flags),
      },
      {
        name: 'forget',
        summary: 'stop managing the objects of a source, without deleting them',
        arguments: [ofSource, realm],
        options: storeOptions,
        run: async ([name, realm], flags) => (await import('./commands/source.ts')).forget(name, realm, flags),
      },
      {
        name: 'show',
        summary: 'show conditions and last attempts of a source',
        arguments: [ofSource],
        options: [...storeOptions, output()],
        run: async ([name], flags) => (await import('./source-states.ts')).show(name, flags),
      },
      {
        name: 'suspend',
        summary: 'suspend a source until it is resumed',
        arguments: [ofSource],
        options: storeOptions,
        run: async ([name], flags) => (await import('./source-states.ts')).suspend(name, flags),
      },
      {
        name: 'resume',
        summary: 'resume a suspended source',
        arguments: [ofSource, argument('[realm]', 'only end the suspension by a rollback of this realm')],
        options: storeOptions,
        run: async ([name, realm], flags) =>
          realm === undefined
            ? (await import('./source-states.ts')).resumeAll(name, flags)
            : (await import('./commands/source.ts')).resume(name, realm, flags),
      },
      {
        name: 'force',
        summary: 'reconcile a source now',
        arguments: [ofSource],
        options: storeOptions,
        run: async ([name], flags) => (await import('./source-states.ts')).force(name, flags),
      },
      {
        name: 'rename',
        summary: 'rename a source; it keeps its objects',
        arguments: [ofSource, argument('<name>', 'the new name')],
        options: storeOptions,
        run: async ([name, to], flags) => (await import('./source-states.ts')).rename(name, to, flags),
      },
    ],
  },
  {
    name: 'secret',
    summary: 'manage secrets declared as $(generated:NAME)',
    commands: [
      {
        name: 'list',
        summary: 'list the generated secrets of a realm',
        arguments: [realm],
        options: [...storeOptions, output()],
        run: async ([realm], flags) => (await import('./commands/secret.ts')).list(realm, flags),
      },
      {
        name: 'get',
        summary: 'print a generated secret',
        arguments: [realm, ofSource, secretName],
        options: storeOptions,
        run: async ([realm, source, name], flags) =>
          (await import('./commands/secret.ts')).get({ realm, source, name }, flags),
      },
      {
        name: 'rotate',
        summary: 'replace a secret at the next apply of its source',
        arguments: [realm, ofSource, secretName],
        options: storeOptions,
        run: async ([realm, source, name], flags) =>
          (await import('./commands/secret.ts')).rotate({ realm, source, name }, flags),
      },
    ],
  },
  {
    name: 'export',
    summary: 'print a realm as a document',
    arguments: [realm],
    options: [
      ...storeOptions,
      option('--dir <folder>', 'write a file for each object into this folder'),
      option('--full', 'include values that equal the defaults'),
      option('--secrets', 'print secrets in the clear instead of masks'),
      option('--ids', 'include the ids of all objects'),
      fileFormat('form of the document'),
    ],
    run: async ([realm], flags) => (await import('./commands/export.ts')).exportCommand(realm, flags),
  },
  {
    name: 'import',
    summary: 'migrate a realm from a Keycloak server',
    arguments: [argument('<url>', 'URL of the Keycloak server, such as https://old.example.com')],
    options: [
      ...storeOptions,
      option('--realm <realm>', 'realm to migrate').makeOptionMandatory(),
      option('--dir <folder>', 'folder for the files, one per object (default: named after the realm)'),
      option('--file <file>', 'write a single file instead'),
      fileFormat('form of the files'),
      option('--no-apply', 'write the files without applying them'),
      option('--secrets', 'include the secrets of clients, in the clear'),
      option('--ids', 'include the ids of all objects, not only of users'),
      option('--allow-master', 'permit the master realm'),
      option('--from-user <name>', 'administrator of that server (REGENT_FROM_USER)'),
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
    summary: 'set the password of an administrator',
    arguments: [argument('[user]', 'user of the master realm').default('admin')],
    options: [
      ...storeOptions,
      option('--new-password <password>', 'new password (REGENT_NEW_PASSWORD; default: prompt)'),
      option('--new-password-file <file>', 'file whose first line is the new password'),
    ],
    run: async ([user], flags) => (await import('./commands/admin-password.ts')).adminPassword(user, flags),
  },
  {
    name: 'replace-key',
    summary: 'replace the key that protects the store',
    options: [
      option('--new-key-file <file>', 'file with the new key: at least 32 bytes in base64').makeOptionMandatory(),
      option('--database <URL>', 'open this PostgreSQL database (REGENT_DATABASE)'),
      option('--data <folder>', 'open the embedded store in this folder (REGENT_DATA; default: data)'),
      option('--key-file <file>', 'file with the present key (REGENT_KEY_FILE)'),
    ],
    run: async (_values, flags) => (await import('./commands/replace-key.ts')).replaceKey(flags),
  },
  {
    name: 'backup',
    summary: 'back up the whole store into a file',
    arguments: [argument('<file>', 'file to write')],
    options: storeOptions,
    run: async ([file], flags) => (await import('./commands/backup.ts')).backup(file, flags),
  },
  {
    name: 'restore',
    summary: 'restore a back-up into an empty store',
    arguments: [argument('<file>', 'file written by regent backup')],
    options: ownStoreOptions,
    run: async ([file], flags) => (await import('./commands/restore.ts')).restoreCommand(file, flags),
  },
  {
    name: 'migrate',
    summary: 'copy a store into another, empty store',
    options: [
      ...ownStoreOptions,
      option('--to <place>', 'URL of a PostgreSQL database, or folder of an embedded store').makeOptionMandatory(),
    ],
    run: async (_values, flags) => (await import('./commands/migrate.ts')).migrate(flags),
  },
]
