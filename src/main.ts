// argv → command. Each command's module is loaded when it runs, so that help and the small commands start fast.
import { Command, InvalidArgumentError, Option } from 'commander'
import { report } from './cli/report.ts'
import { withSettings } from './cli/settings-flags.ts'
import { settings } from './config.ts'
import { version } from './lib/version.ts'

const program = new Command('regent')
  .description('An identity administration server whose realms are declared.')
  .version(version)
  .showHelpAfterError('(regent --help lists the commands)')
  // Of 80 columns, what is beside the longest flag must do.
  .configureHelp({ sortSubcommands: false, minWidthToWrap: 25 })

/** A command that needs the store: of a server, of a database, or of a folder. */
function onStore(name: string, description: string, under = program): Command {
  return under
    .command(name)
    .description(description)
    .option('--server <URL>', 'talk to the running server at this address (REGENT_SERVER)')
    .option('--database <URL>', 'open this PostgreSQL database (REGENT_DATABASE)')
    .option('--data <folder>', 'open the embedded store in this folder (REGENT_DATA; default: data)')
    .option('--key-file <file>', 'file with the key of the secrets at rest (REGENT_KEY_FILE)')
    .option('--token <token>', 'access token for the server (REGENT_TOKEN)')
    .option('--user <name>', 'administrator to log in as (REGENT_USER)')
    .option('--password <password>', 'password of the administrator (REGENT_PASSWORD)')
}

const serve = program
  .command('serve')
  .description('start the server, reconcile its sources and keep watching them')
  .action(async (flags) => (await import('./cli/serve.ts')).serve(flags))
for (const setting of Object.values(settings)) {
  const value = 'placeholder' in setting ? ` <${setting.placeholder}>` : ''
  const option = new Option(`${setting.flag}${value}`, `${setting.description} (${setting.variable})`)
  serve.addOption(
    setting.flag === '--source' ? option.argParser((one: string, all: string[] = []) => [...all, one]) : option,
  )
}

program
  .command('init')
  .argument('[file]', 'file to write', 'my-realm.yaml')
  .description('write a realm file to start from')
  .action(async (file) => (await import('./cli/init.ts')).init(file))

function wholeNumber(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('It must be a number from 1 on.')
  return Number(text)
}

const output = (...more: string[]) =>
  new Option('--output <format>', 'form of the output').choices(['text', 'json', ...more]).default('text')

const unknownFields = () => {
  const option = new Option('--unknown-fields <what>', 'what becomes of fields that are not known: an error, or a note')
    .choices(['error', 'warn'])
    .default('error')
  // An empty variable counts as absent.
  return process.env.REGENT_UNKNOWN_FIELDS ? option.env('REGENT_UNKNOWN_FIELDS') : option
}

program
  .command('validate')
  .argument('<source>', 'file, folder or git URL')
  .description('check documents without a store')
  .addOption(unknownFields())
  .action(async (source, flags) => (await import('./cli/validate.ts')).validate(source, flags))

program
  .command('lint')
  .argument('<source>', 'file, folder or git URL')
  .description('show what documents state that is advised against, such as wildcards in redirect addresses')
  .option('--strict', 'exit with 1 when there is something')
  .addOption(unknownFields())
  .addOption(output('markdown'))
  .action(async (source, flags) => (await import('./cli/lint.ts')).lint(source, flags))

program
  .command('schema')
  .description('print the JSON schema of documents, with which editors complete and check them')
  .action(async () => (await import('./cli/schema.ts')).schema())

const allowLockOut = () =>
  new Option('--allow-lock-out', 'also where nobody would be left who can log in and administer every realm')

withSettings(onStore('plan', 'show what applying documents would change'))
  .argument('<source>', 'file, folder or git URL')
  .option('--name <name>', 'name of the source (default: its path or URL)')
  .addOption(unknownFields())
  .addOption(allowLockOut())
  .option('--save [file]', 'keep the plan, to be applied by its id, and write it to this file')
  .option('--detailed-exitcode', 'exit with 0 when there is nothing to do, 2 when there are changes, 1 on an error')
  .addOption(output('markdown'))
  .action(async (source, flags) => (await import('./cli/plan.ts')).plan(source, flags))

withSettings(onStore('apply', 'apply documents: all of a realm, or nothing'))
  .argument('[source]', 'file, folder or git URL')
  .option('--plan <id>', 'exactly this saved plan instead, by its id or file')
  .option('--name <name>', 'name of the source (default: its path or URL)')
  .addOption(unknownFields())
  .addOption(allowLockOut())
  .addOption(output('markdown'))
  .action(async (source, flags) => (await import('./cli/apply.ts')).apply(source, flags))

onStore('plans', 'list saved plans and those that wait for an approval, or show one')
  .argument('[id]', 'only this plan, with what it does')
  .addOption(output('markdown'))
  .action(async (id, flags) => (await import('./cli/plans.ts')).plans(id, flags))

onStore('approve', 'let a plan be applied that waits for an approval')
  .argument('<id>', 'id of the plan')
  .option('--with-credentials', 'people that it adopts get the passwords that the documents state')
  .addOption(output('markdown'))
  .action(async (id, flags) => (await import('./cli/plans.ts')).approve(id, flags))

onStore('reject', 'forget a saved plan')
  .argument('<id>', 'id of the plan')
  .action(async (id, flags) => (await import('./cli/plans.ts')).reject(id, flags))

onStore('drift', 'show what somebody changed since documents were applied')
  .argument('[realm]', 'only this realm')
  .option('--watch', 'go on, and tell of each change as it happens; Ctrl-C ends it')
  .option('--unmanaged', 'show what is live and no source states; of people a number')
  .option('--people', 'with --unmanaged: name the people too')
  .addOption(output('markdown'))
  .action(async (realm, flags) => {
    if (flags.unmanaged) return (await import('./cli/unmanaged.ts')).unmanaged(realm, flags)
    return flags.watch
      ? (await import('./cli/drift-watch.ts')).watchDrift(realm, flags)
      : (await import('./cli/drift.ts')).drift(realm, flags)
  })

onStore('adopt', 'print what to commit so that what is live is stated')
  .argument('<realm>')
  .argument(
    '[path...]',
    'only what stands there or below, such as clients, clients/my-app or clients/my-app/redirectUris',
  )
  .option('--people', 'with people, who are left out otherwise')
  .addOption(output())
  .action(async (realm, paths, flags) => (await import('./cli/adopt.ts')).adopt(realm, paths, flags))

onStore('why', 'tell which documents state something, and who set it when')
  .argument('<realm>')
  .argument('<path>', 'in the steps of a realm file, such as clients/my-app/redirectUris')
  .addOption(output())
  .action(async (realm, path, flags) => (await import('./cli/why.ts')).why(realm, path, flags))

onStore('history', 'list the last revisions of a realm')
  .argument('<realm>')
  .option('--max <number>', 'how many', wholeNumber, 50)
  .addOption(output('markdown'))
  .action(async (realm, flags) => (await import('./cli/history.ts')).history(realm, flags))

onStore('diff', 'show what leads from one revision of a realm to another')
  .argument('<realm>')
  .argument('<from>', 'a revision, such as r41')
  .argument('[to]', 'a revision (default: what is live)')
  .addOption(output('markdown'))
  .action(async (realm, from, to, flags) => (await import('./cli/history.ts')).diff(realm, from, to, flags))

onStore('rollback', 'go back to a revision of a realm, and hold its sources')
  .argument('<realm>')
  .argument('<revision>', 'such as r41')
  .option('--plan', 'only show what would be done')
  .addOption(output('markdown'))
  .action(async (realm, revision, flags) => (await import('./cli/history.ts')).rollback(realm, revision, flags))

const source = program.command('source').description('the sources that have applied documents')

onStore('list', 'list the sources, realm by realm', source)
  .addOption(output())
  .action(async (flags) => (await import('./cli/source.ts')).list(flags))

onStore('forget', 'let go of what a source owns in a realm: it stays, and nobody states it', source)
  .argument('<source>', 'name of the source')
  .argument('<realm>')
  .action(async (name, realm, flags) => (await import('./cli/source.ts')).forget(name, realm, flags))

onStore('show', 'show how a source is doing: conditions, and the last attempts', source)
  .argument('<source>', 'name of the source')
  .addOption(output())
  .action(async (name, flags) => (await import('./cli/source-states.ts')).show(name, flags))

onStore('suspend', 'do not read a source until it is resumed', source)
  .argument('<source>', 'name of the source')
  .action(async (name, flags) => (await import('./cli/source-states.ts')).suspend(name, flags))

onStore('resume', 'let a source go on that was suspended, or held by a rollback', source)
  .argument('<source>', 'name of the source')
  .argument('[realm]', 'only where a rollback of this realm holds it')
  .action(async (name, realm, flags) =>
    realm === undefined
      ? (await import('./cli/source-states.ts')).resumeAll(name, flags)
      : (await import('./cli/source.ts')).resume(name, realm, flags),
  )

onStore('force', 'have a source read and applied now', source)
  .argument('<source>', 'name of the source')
  .action(async (name, flags) => (await import('./cli/source-states.ts')).force(name, flags))

onStore('rename', 'call a source otherwise: what it owns stays its own', source)
  .argument('<source>', 'name of the source')
  .argument('<name>', 'the new name')
  .action(async (name, to, flags) => (await import('./cli/source-states.ts')).rename(name, to, flags))

const secret = program.command('secret').description('secrets that documents name as $(generated:NAME)')

onStore('list', 'list the secrets that were made in a realm', secret)
  .argument('<realm>')
  .addOption(output())
  .action(async (realm, flags) => (await import('./cli/secret.ts')).list(realm, flags))

onStore('get', 'print a secret', secret)
  .argument('<realm>')
  .argument('<source>', 'name of the source')
  .argument('<name>', 'as documents name it')
  .action(async (realm, source, name, flags) => (await import('./cli/secret.ts')).get(realm, source, name, flags))

onStore('rotate', 'make another secret: it counts from the next apply of the source on', secret)
  .argument('<realm>')
  .argument('<source>', 'name of the source')
  .argument('<name>', 'as documents name it')
  .action(async (realm, source, name, flags) => (await import('./cli/secret.ts')).rotate(realm, source, name, flags))

onStore('export', 'write a realm as a document')
  .argument('<realm>')
  .option('--dir <folder>', 'write a file for each object into this folder')
  .option('--full', 'with everything that creation would give, too')
  .option('--secrets', 'secrets in the clear instead of masks')
  .option('--ids', 'with the ids of all objects')
  .addOption(new Option('--output <format>', 'form of the document').choices(['yaml', 'json']).default('yaml'))
  .action(async (realm, flags) => (await import('./cli/export.ts')).exportCommand(realm, flags))

onStore('import', 'move in: read a realm of another server with this admin API, write it as files, and apply them')
  .argument('<url>', 'address of the other server, such as https://old.example.com or https://old.example.com/auth')
  .requiredOption('--realm <realm>', 'the realm to read')
  .option('--dir <folder>', 'write a file for each object into this folder (default: the name of the realm)')
  .option('--file <file>', 'write one file')
  .addOption(new Option('--output <format>', 'form of the files').choices(['yaml', 'json']).default('yaml'))
  .option('--no-apply', 'only write files')
  .option('--secrets', 'with the secrets of clients, in the clear')
  .option('--ids', 'with the ids of all objects, and not only of people')
  .option('--allow-master', 'also the realm of those who administer every realm')
  .option('--from-user <name>', 'administrator there (REGENT_FROM_USER)')
  .option('--from-password <password>', 'password of that administrator (REGENT_FROM_PASSWORD)')
  .option('--from-token <token>', 'access token for that server (REGENT_FROM_TOKEN)')
  .option('--from-client <client>', 'client to log in with', 'admin-cli')
  .option('--from-client-secret <secret>', 'secret of that client (REGENT_FROM_CLIENT_SECRET)')
  .option('--from-realm <realm>', 'realm to log in at', 'master')
  .action(async (url, flags) => (await import('./cli/import.ts')).importCommand(url, flags))

onStore('get', 'read from the admin API')
  .argument('<path>', 'path below /admin/realms, such as my-realm/clients')
  .action(async (path, flags) => (await import('./cli/get.ts')).get(path, flags))

onStore('token', 'print an access token of an administrator, for the running server').action(async (flags) =>
  (await import('./cli/token.ts')).token(flags),
)

onStore('admin-password', 'give an administrator a new password: on a running server, or on the store when it is lost')
  .argument('[user]', 'user of the master realm', 'admin')
  .option('--new-password <password>', 'the new password (REGENT_NEW_PASSWORD; default: it is asked for)')
  .option('--new-password-file <file>', 'file whose first line is the new password')
  .action(async (user, flags) => (await import('./cli/admin-password.ts')).adminPassword(user, flags))

program
  .command('replace-key')
  .description('open the store with another key from now on; nothing that it keeps changes')
  .requiredOption('--new-key-file <file>', 'file with the new key: at least 32 bytes in base64')
  .option('--database <URL>', 'open this PostgreSQL database (REGENT_DATABASE)')
  .option('--data <folder>', 'open the embedded store in this folder (REGENT_DATA; default: data)')
  .option('--key-file <file>', 'file with the key that it has (REGENT_KEY_FILE)')
  .action(async (flags) => (await import('./cli/replace-key.ts')).replaceKey(flags))

onStore('backup', 'write everything that the store keeps into a file: every realm, people, sessions and the past')
  .argument('<file>', 'file to write')
  .action(async (file, flags) => (await import('./cli/backup.ts')).backup(file, flags))

/** A command on a whole store, where no server runs. */
function onOwnStore(name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .option('--database <URL>', 'the PostgreSQL database (REGENT_DATABASE)')
    .option('--data <folder>', 'the folder of the embedded store (REGENT_DATA; default: data)')
    .option('--key-file <file>', 'file with the key of the secrets at rest (REGENT_KEY_FILE)')
}

onOwnStore('restore', 'restore a file of regent backup into a store that holds nothing yet')
  .argument('<file>', 'file of regent backup')
  .action(async (file, flags) => (await import('./cli/restore.ts')).restoreCommand(file, flags))

onOwnStore('migrate', 'move everything that a store keeps into another one, which holds nothing yet')
  .requiredOption('--to <place>', 'URL of a PostgreSQL database, or folder of an embedded store')
  .action(async (flags) => (await import('./cli/migrate.ts')).migrate(flags))

/** Which help tells what a command wants. */
function hint(command: Command, name: string): void {
  command.showHelpAfterError(`(${name} --help tells more)`)
  for (const one of command.commands) hint(one, `${name} ${one.name()}`)
}
for (const command of program.commands) hint(command, `regent ${command.name()}`)

try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = 1
  console.error(report(error))
}
