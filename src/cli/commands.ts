// The table of commands. The module of each is loaded when it runs, so that help and the small commands start fast.
import { setFlagsFromString } from 'node:v8'
import { Argument, InvalidArgumentError } from 'commander'
import { list, settings } from '../config.ts'
import type { CommandEntry } from './command-entry.ts'
import { sourceSettingsOptions } from './inputs/source-settings-options.ts'
import { loginCommands } from './login/login-commands.ts'
import {
  allowLockOut,
  choice,
  count,
  documentOptions,
  environmentOption,
  fileFormatOption,
  identityOptions,
  option,
  otherServerOptions,
  outcomeOptions,
  output,
  ownStoreOptions,
  serverOptions,
  serverVersionOptions,
  settingOption,
  storeOptions,
  strict,
  yesOption,
} from './options.ts'

const argument = (name: string, description?: string) => new Argument(name, description)

const documents = argument('[paths...]', 'files, folders, - for stdin, or a git URL').default(['.'], '.')
const ofSource = argument('<source>', 'name of the source')
const realm = argument('<realm>').argParser(readRealmName)
const optionalRealm = argument('[realm]', 'only this realm').argParser(readRealmName)
const plan = argument('<id>', 'id of the plan')
const detailedExitCode = option('--detailed-exitcode', 'Exit with 2 if there are changes or drift')
const namespaceOption = option('-n, --namespace <name>', 'Use this namespace, not that of the kubeconfig')
const secretName = argument('<name>', 'as documents name it')

function readRealmName(text: string): string {
  if (text.includes('/'))
    throw new InvalidArgumentError(`The name of a realm has no slash. Separate a path from it by a space.`)
  return text
}

/** The commands, in the order of the help. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'serve',
    group: 'Server:',
    summary: 'Start the server and reconcile its sources',
    examples: [
      ['regent serve --source realms', 'apply the folder realms, and watch it'],
      ['regent serve --production --database "$DATABASE" --key-file key', 'serve a PostgreSQL database'],
    ],
    options: Object.values(settings).map(settingOption),
    async run(_values, flags) {
      // Loading the modules would let the young generation of the heap grow to 130 MB, which an idle server keeps.
      setFlagsFromString('--semi-space-growth-factor=1')
      await (await import('./commands/serve.ts')).serve(flags)
    },
  },
  {
    name: 'init',
    group: 'Realm files:',
    summary: 'Write a realm file to start from',
    examples: [
      ['regent init realms/shop.yaml', 'write a realm file to start from'],
      ['regent init shop.yaml --template b2b', 'begin with organizations'],
    ],
    arguments: [argument('[file]', 'file to write').default('my-realm.yaml')],
    options: [
      option('--name <name>', 'Name the source of the folder', { fallback: 'folder and a random part' }),
      choice('--template <name>', 'Choose what the realm has', {
        values: ['spa', 'service', 'b2b', 'minimal'],
        fallback: 'spa',
      }),
    ],
    run: async ([file], flags) => (await import('./commands/init.ts')).init(file, flags),
  },
  {
    name: 'validate',
    summary: 'Check documents as a plan does, on a new store in memory',
    examples: [
      ['regent validate realms', 'check the documents of a folder, without a server'],
      ['cat realm.yaml | regent validate -', 'check the standard input'],
    ],
    arguments: [documents],
    options: [...serverOptions, ...identityOptions, ...documentOptions, strict, output()],
    run: async ([paths], flags) => (await import('./commands/validate.ts')).validate(paths, flags),
  },
  {
    name: 'lint',
    summary: 'Show risky settings in documents',
    examples: [['regent lint realms --strict', 'fail a pipeline on any finding']],
    arguments: [documents],
    options: [
      option('--strict', 'Exit with 1 on any finding'),
      environmentOption,
      ...documentOptions,
      output('markdown', 'sarif', 'gitlab'),
    ],
    run: async ([paths], flags) => (await import('./commands/lint.ts')).lint(paths, flags),
  },
  {
    name: 'schema',
    summary: 'Print the JSON schema of documents, or of outputs',
    arguments: [
      argument('[format]', 'documents, or the JSON of a command')
        .choices(['document', 'plan', 'drift', 'history', 'validate', 'lint', 'error'])
        .default('document'),
    ],
    run: async ([format]) => (await import('./commands/schema.ts')).schema(format),
  },
  {
    name: 'plan',
    group: 'Plan and apply:',
    summary: 'Show the changes that an apply would make',
    examples: [
      ['regent plan realms', 'show what an apply would change'],
      ['regent plan realms --detailed-exitcode', 'exit with 2 if there are changes'],
      ['regent plan realms --target shop/clients', 'show only clients of the realm shop'],
      ['regent plan realms --save plan.json --output markdown', 'save the plan, and print it for a pull request'],
      [
        'regent plan shop.json --against https://sso.example.com --from-user admin',
        'compare a file with a Keycloak server',
      ],
    ],
    arguments: [documents],
    options: [
      ...storeOptions,
      ...sourceSettingsOptions,
      ...identityOptions,
      ...documentOptions,
      strict,
      allowLockOut,
      option('--save [file]', 'Save the plan, also in this file if given'),
      detailedExitCode,
      option('--against <URL>', 'Compare with this Keycloak server, without a store'),
      ...otherServerOptions,
      ...outcomeOptions,
      output('markdown'),
    ],
    exitCodes: ['changes', 'suspended'],
    run: async ([paths], flags) => (await import('./commands/plan.ts')).plan(paths, flags),
  },
  {
    name: 'apply',
    summary: 'Apply documents, each realm in one transaction',
    examples: [
      ['regent apply realms', 'apply all documents of a folder'],
      ['regent apply realms/shop.yaml', 'apply one file; nothing of the others is deleted'],
      ['regent apply --plan plan.json', 'apply a saved plan exactly'],
    ],
    arguments: [argument('[paths...]', 'files, folders, - for stdin, or a git URL (default: .)')],
    options: [
      ...storeOptions,
      ...sourceSettingsOptions,
      option('--plan <id>', 'Apply this saved plan, given by its id or file'),
      ...identityOptions,
      ...documentOptions,
      strict,
      allowLockOut,
      option('--yes', 'Apply deletions without asking on a terminal'),
      ...outcomeOptions,
      output('markdown'),
    ],
    exitCodes: ['pendingApproval', 'suspended'],
    run: async ([paths], flags) => (await import('./commands/apply.ts')).apply(paths, flags),
  },
  {
    name: 'preview',
    summary: 'Show a plan as a throw-away realm',
    commands: [
      {
        name: 'create',
        summary: 'Create a preview of each realm that documents change',
        examples: [['regent preview create realms --label pr-12', 'create or replace the preview of a pull request']],
        arguments: [documents],
        options: [
          ...storeOptions,
          ...identityOptions,
          ...documentOptions,
          option('--label <text>', 'Name the preview; an earlier one is replaced'),
          count('--hours <number>', 'Delete the preview after these hours', 24),
          ...outcomeOptions,
          output('markdown'),
        ],
        run: async ([paths], flags) => (await import('./commands/preview.ts')).create(paths, flags),
      },
      {
        name: 'list',
        summary: 'List the previews',
        options: [...storeOptions, output()],
        run: async (_, flags) => (await import('./commands/preview.ts')).list(flags),
      },
      {
        name: 'delete',
        summary: 'Delete a preview',
        arguments: [argument('<preview>', 'name of the preview')],
        options: storeOptions,
        run: async ([preview], flags) => (await import('./commands/preview.ts')).remove(preview, flags),
      },
    ],
  },
  {
    name: 'explain',
    summary: 'Show whether a source may declare the objects of documents',
    arguments: [documents],
    options: [...storeOptions, ...identityOptions, ...documentOptions, output()],
    run: async ([paths], flags) => (await import('./commands/explain.ts')).explain(paths, flags),
  },
  {
    name: 'plans',
    summary: 'List saved plans, or show one',
    arguments: [argument('[id]', 'id of the plan to show with its changes')],
    options: [...storeOptions, ...outcomeOptions, output('markdown')],
    run: async ([id], flags) => (await import('./commands/plans.ts')).plans(id, flags),
  },
  {
    name: 'approve',
    summary: 'Approve a plan that is pending approval',
    arguments: [plan],
    options: [
      ...storeOptions,
      option('--with-credentials', 'Set the declared passwords of adopted users'),
      output('markdown'),
    ],
    exitCodes: ['pendingApproval', 'suspended'],
    run: async ([id], flags) => (await import('./commands/plans.ts')).approve(id, flags),
  },
  {
    name: 'reject',
    summary: 'Delete a saved plan',
    arguments: [plan],
    options: storeOptions,
    run: async ([id], flags) => (await import('./commands/plans.ts')).reject(id, flags),
  },
  {
    name: 'drift',
    group: 'Drift and history:',
    summary: 'Show live changes of managed objects',
    examples: [
      ['regent drift --detailed-exitcode', 'exit with 2 if there is drift'],
      ['regent drift shop --watch', 'print drift as it happens'],
    ],
    arguments: [optionalRealm],
    options: [
      ...storeOptions,
      option('--watch', 'Print each change as it happens, until Ctrl-C'),
      option('--unmanaged', 'List unmanaged objects, and count unmanaged users'),
      option('--users', 'List unmanaged users as well'),
      detailedExitCode,
      output('markdown'),
    ],
    exitCodes: ['changes'],
    run: async ([realm], flags) => {
      if (flags.unmanaged) return (await import('./commands/unmanaged.ts')).unmanaged(realm, flags)
      if (flags.watch) return (await import('./commands/drift-watch.ts')).watchDrift(realm, flags)
      return (await import('./commands/drift.ts')).drift(realm, flags)
    },
  },
  {
    name: 'accept',
    summary: 'Print the YAML that declares the live values, or write it',
    examples: [
      ['regent accept shop clients/web', 'print the YAML of the live client'],
      ['regent accept shop --write realms', 'edit the files in the folder realms'],
    ],
    arguments: [realm, argument('[path...]', 'only these, such as clients or clients/my-app/name')],
    options: [
      ...storeOptions,
      ...identityOptions,
      ...documentOptions,
      option('--users', 'Include users'),
      option('--write [path]', 'Edit the files in this folder, or this file').preset('.'),
      output(),
    ],
    run: async ([realm, paths], flags) => (await import('./commands/accept.ts')).accept(realm, paths, flags),
  },
  {
    name: 'why',
    summary: 'Show which documents declare a value, and who set it',
    examples: [['regent why shop clients/web/redirectUris', 'show where the value is declared']],
    arguments: [realm, argument('[path]', 'such as clients/my-app/name (default: the realm itself)').default('')],
    options: [...storeOptions, output()],
    run: async ([realm, path], flags) => (await import('./commands/why.ts')).whyCommand(realm, path, flags),
  },
  {
    name: 'history',
    summary: 'List the last revisions of a realm',
    arguments: [realm],
    options: [...storeOptions, count('--max <number>', 'List at most this many', 50), output('markdown')],
    run: async ([realm], flags) => (await import('./commands/history.ts')).history(realm, flags),
  },
  {
    name: 'diff',
    summary: 'Show the changes between revisions, files or realms',
    examples: [
      ['regent diff shop r41', 'show what changed since revision r41'],
      ['regent diff realms@staging realms@production', 'compare two environments of files'],
      ['regent diff staging:shop production:shop', 'compare a realm of two servers, named by contexts'],
      ['regent diff realms/shop.yaml shop', 'compare a file with a live realm'],
    ],
    arguments: [
      argument('<from>', 'REALM, CONTEXT:REALM, or files as PATH or PATH@ENVIRONMENT'),
      argument('<to>', 'the same, or a revision of the realm, such as r41'),
      argument('[revision]', 'a later revision (default: the live realm)'),
    ],
    options: [
      ...storeOptions,
      environmentOption,
      ...documentOptions,
      option('--full', 'Show each object and each value in full'),
      output('markdown'),
    ],
    run: async ([from, to, revision], flags) => (await import('./commands/diff.ts')).diff([from, to, revision], flags),
  },
  {
    name: 'rollback',
    summary: 'Roll back a realm and suspend its sources',
    examples: [['regent rollback shop r41 --plan', 'show what a rollback would change']],
    arguments: [realm, argument('<revision>', 'the revision to return to, such as r41')],
    options: [
      ...storeOptions,
      option('--plan', 'Show the plan of the rollback without applying it'),
      yesOption,
      ...outcomeOptions,
      output('markdown'),
    ],
    run: async ([realm, revision], flags) => (await import('./commands/history.ts')).rollback(realm, revision, flags),
  },
  {
    name: 'erase',
    summary: 'Delete a user and erase their values in the history',
    arguments: [realm, argument('<user>', 'a username, or the id of a user')],
    options: [...storeOptions, yesOption, output()],
    run: async ([realm, user], flags) => (await import('./commands/erase.ts')).erase(realm, user, flags),
  },
  {
    name: 'source',
    group: 'Sources:',
    summary: 'List and control sources',
    commands: [
      {
        name: 'list',
        summary: 'List sources by realm',
        options: [...storeOptions, output()],
        run: async (_values, flags) => (await import('./commands/source.ts')).list(flags),
      },
      {
        name: 'forget',
        summary: 'Stop managing the objects of a source; they stay',
        arguments: [ofSource, realm],
        options: [...storeOptions, yesOption],
        run: async ([name, realm], flags) => (await import('./commands/source.ts')).forget(name, realm, flags),
      },
      {
        name: 'show',
        summary: 'Show conditions and last attempts of a source',
        arguments: [ofSource],
        options: [...storeOptions, output()],
        run: async ([name], flags) => (await import('./source-states.ts')).show(name, flags),
      },
      {
        name: 'suspend',
        summary: 'Suspend a source until it is resumed',
        arguments: [ofSource],
        options: storeOptions,
        run: async ([name], flags) => (await import('./source-states.ts')).suspend(name, flags),
      },
      {
        name: 'resume',
        summary: 'Resume a suspended source',
        arguments: [
          ofSource,
          argument('[realm]', 'only end the suspension by a rollback of this realm').argParser(readRealmName),
        ],
        options: storeOptions,
        run: async ([name, realm], flags) =>
          realm === undefined
            ? (await import('./source-states.ts')).resumeAll(name, flags)
            : (await import('./commands/source.ts')).resume(name, realm, flags),
      },
      {
        name: 'force',
        summary: 'Reconcile a source now',
        arguments: [ofSource],
        options: storeOptions,
        run: async ([name], flags) => (await import('./source-states.ts')).force(name, flags),
      },
      {
        name: 'rename',
        summary: 'Rename a source; it keeps its objects',
        arguments: [ofSource, argument('<name>', 'the new name')],
        options: storeOptions,
        run: async ([name, to], flags) => (await import('./source-states.ts')).rename(name, to, flags),
      },
    ],
  },
  {
    name: 'secret',
    summary: 'Manage secrets declared as $(generated:NAME)',
    commands: [
      {
        name: 'list',
        summary: 'List the generated secrets of a realm',
        arguments: [realm],
        options: [...storeOptions, output()],
        run: async ([realm], flags) => (await import('./commands/secret.ts')).list(realm, flags),
      },
      {
        name: 'get',
        summary: 'Print a generated secret',
        arguments: [realm, ofSource, secretName],
        options: storeOptions,
        run: async ([realm, source, name], flags) =>
          (await import('./commands/secret.ts')).get({ realm, source, name }, flags),
      },
      {
        name: 'rotate',
        summary: 'Replace a secret at the next apply of its source',
        arguments: [realm, ofSource, secretName],
        options: [...storeOptions, yesOption],
        run: async ([realm, source, name], flags) =>
          (await import('./commands/secret.ts')).rotate({ realm, source, name }, flags),
      },
    ],
  },
  {
    name: 'export',
    group: 'Export and import:',
    summary: 'Print a realm as a document',
    examples: [['regent export shop --dir shop', 'write a file for each object']],
    arguments: [realm],
    options: [
      ...storeOptions,
      option('--dir <folder>', 'Write a file for each object into this folder'),
      option('--full', 'Include values that equal the defaults'),
      option('--secrets', 'Print secrets in the clear instead of masks'),
      option('--ids', 'Include the ids of all objects'),
      fileFormatOption('Choose the form of the document'),
    ],
    run: async ([realm], flags) => (await import('./commands/export.ts')).exportCommand(realm, flags),
  },
  {
    name: 'import',
    summary: 'Migrate a realm from Keycloak, or from a Terraform state',
    examples: [
      ['regent import https://sso.example.com --realm shop --from-user admin', 'migrate the realm shop into files'],
      ['regent import https://sso.example.com --realm shop --from-user admin --check', 'show what will not work'],
      ['terraform state pull | regent import --terraform-state -', 'write what a Terraform state declares as files'],
    ],
    arguments: [argument('[url]', 'URL of the Keycloak server')],
    options: [
      ...storeOptions,
      option('--realm <realm>', 'Migrate this realm', { fallback: 'the only realm of a Terraform state' }),
      option('--terraform-state <file>', 'Read this state instead of a server; - for stdin').conflicts([
        ...['check', 'strict', 'ids', 'keys', 'keyAlias', 'keysPassword'],
        ...['fromUser', 'fromPassword', 'fromToken', 'fromClient', 'fromClientSecret', 'fromRealm'],
      ]),
      option('--dir <folder>', 'Write a file for each object into this folder', { fallback: 'the name of the realm' }),
      option('--file <file>', 'Write a single file instead'),
      fileFormatOption('Choose the form of the files'),
      option('--no-apply', 'Write the files without applying them'),
      option('--check', 'Only show what will not work, and write nothing'),
      strict,
      option('--secrets', 'Include the secrets of clients, in the clear'),
      option('--ids', 'Include the ids of all objects, not only of users'),
      option('--keys <file>', 'Import keys from this key store or export'),
      option('--key-alias <name>', 'Import the key of this name in the key store'),
      option('--keys-password <password>', 'Open the key store with it', { variable: 'REGENT_KEYS_PASSWORD' }),
      option('--allow-master', 'Permit the master realm'),
      ...otherServerOptions,
    ],
    run: async ([url], flags) =>
      flags.terraformState === undefined
        ? (await import('./commands/import.ts')).importCommand(url, flags)
        : (await import('./commands/import-terraform-state.ts')).importTerraformState(url, flags),
  },
  {
    name: 'get',
    group: 'Server access:',
    summary: 'Read from the admin API',
    examples: [["regent get 'shop/users?search=ann'", 'search users']],
    arguments: [argument('[path]', 'path below /admin/realms, such as my-realm/clients').default('', 'the realms')],
    options: storeOptions,
    run: async ([path], flags) => (await import('./commands/get.ts')).get(path, flags),
  },
  ...loginCommands,
  {
    name: 'token',
    summary: 'Print an access token for the running server',
    options: storeOptions,
    run: async (_values, flags) => (await import('./commands/token.ts')).token(flags),
  },
  {
    name: 'admin-password',
    group: 'Store:',
    summary: 'Set the password of an administrator',
    arguments: [argument('[user]', 'user of the master realm').default('admin')],
    options: [
      ...storeOptions,
      option('--new-password <password>', 'Set this password', { variable: 'REGENT_NEW_PASSWORD', fallback: 'prompt' }),
      option('--new-password-file <file>', 'Read the new password from the first line of this file'),
      option('--create', 'Create the user as an administrator of all realms'),
    ],
    run: async ([user], flags) => (await import('./commands/admin-password.ts')).adminPassword(user, flags),
  },
  {
    name: 'replace-key',
    summary: 'Replace the key that protects the store',
    options: [
      option('--new-key-file <file>', 'Use the key in this file: at least 32 bytes in base64').makeOptionMandatory(),
      ...ownStoreOptions,
      yesOption,
    ],
    run: async (_values, flags) => (await import('./commands/replace-key.ts')).replaceKey(flags),
  },
  {
    name: 'backup',
    summary: 'Back up the whole store into a file',
    examples: [['regent backup nightly.backup', 'back up the store']],
    arguments: [argument('<file>', 'file to write')],
    options: storeOptions,
    run: async ([file], flags) => (await import('./commands/backup.ts')).backup(file, flags),
  },
  {
    name: 'restore',
    summary: 'Restore a backup into an empty store',
    arguments: [argument('<file>', 'file written by regent backup')],
    options: ownStoreOptions,
    run: async ([file], flags) => (await import('./commands/restore.ts')).restoreCommand(file, flags),
  },
  {
    name: 'migrate',
    summary: 'Copy a store into another, empty store',
    options: [
      ...ownStoreOptions,
      option('--to <store>', 'Copy into this PostgreSQL database or folder').makeOptionMandatory(),
    ],
    run: async (_values, flags) => (await import('./commands/migrate.ts')).migrate(flags),
  },
  {
    name: 'kubectl',
    group: 'Kubernetes:',
    summary: 'Show and approve plans in a cluster: kubectl regent',
    commands: [
      {
        name: 'plan',
        summary: 'Show plans of Realms and RealmSources not yet applied',
        arguments: [argument('[resource]', 'a Realm, or kind/name')],
        options: [namespaceOption, option('-A, --all-namespaces', 'Use all namespaces')],
        exitCodes: ['pendingApproval'],
        run: async ([resource], flags) => (await import('./commands/kubectl-plans.ts')).plan(resource, flags),
      },
      {
        name: 'approve',
        summary: 'Approve a plan that is pending approval',
        arguments: [argument('<resource>', 'a Realm, or kind/name')],
        options: [namespaceOption, option('--plan <id>', 'Approve only this plan')],
        exitCodes: ['pendingApproval'],
        run: async ([resource], flags) => (await import('./commands/kubectl-plans.ts')).approve(resource, flags),
      },
    ],
  },
  {
    name: 'operator',
    summary: 'Install and remove the Kubernetes operator',
    commands: [
      {
        name: 'install',
        summary: 'Install the CRDs, also over existing ones',
        options: [],
        run: async () => (await import('./commands/operator-install.ts')).install(),
      },
      {
        name: 'release',
        summary: 'Remove the finalizers of resources; objects stay live',
        options: [
          option('--namespaces <names>', 'Only of these namespaces, separated by commas').argParser((text) =>
            list.parse(text),
          ),
          option('--class <name>', 'Only of this class instead of none'),
        ],
        run: async (_values, flags) => (await import('./commands/operator-release.ts')).release(flags),
      },
    ],
  },
  {
    name: 'version',
    group: 'Help:',
    summary: 'Print the versions of the command and of its server',
    options: [...serverVersionOptions, output()],
    run: async (_values, flags) => (await import('./commands/version.ts')).printVersion(flags),
  },
  {
    name: 'completion',
    summary: 'Print the completion script of a shell',
    arguments: [argument('<shell>', 'shell that completes commands').choices(['bash', 'zsh', 'fish'])],
    examples: [['source <(regent completion bash)', 'complete in this shell']],
    run: async ([shell]) => (await import('./commands/completion.ts')).completion(shell, commands),
  },
]
