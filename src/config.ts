// The settings of the server, described once: flags, environment variables, defaults, documentation.
import { isIP } from 'node:net'
import * as z from 'zod'
import { parseSourceLimit } from './kinds/source-limits.ts'
import { isLoopback } from './lib/http/loopback.ts'

/** One setting. */
export interface Setting {
  /** `--admin-user` */
  readonly flag: string
  /** `REGENT_ADMIN_USER` */
  readonly variable: string
  /** What stands for the value in help texts; a switch takes none. */
  readonly placeholder?: string
  readonly schema: z.ZodType
  readonly default?: unknown
  /** The default in development mode only. */
  readonly development?: string
  /** Production does not start without it. */
  readonly demanded?: true
  /** An empty variable is a value, and not as absent. */
  readonly empty?: true
  readonly description: string
}

const text = z.string().min(1, 'must not be empty')
const portNumber = 'must be a whole number from 0 to 65535'
const port = z.coerce
  .string()
  .regex(/^\d{1,5}$/, portNumber)
  .transform(Number)
  .refine((port) => port <= 65_535, portNumber)
const secondsNumber = 'must be a whole number of seconds from 1 to 86400'
const seconds = z.coerce
  .number(secondsNumber)
  .refine((seconds) => seconds >= 1 && seconds <= 86_400 && Number.isInteger(seconds), secondsNumber)
const list = z
  .union([z.string().transform((list) => list.split(',')), z.array(z.string())])
  .transform((list) => list.map((one) => one.trim()).filter((one) => one !== ''))
/** What documents may take values from, as a list. */
export const variables = list.refine(
  (all) => all.every((one) => /^(env:\w+\*?|file:.+)$/.test(one)),
  'must be like env:NAME,env:PREFIX_*,file:/folder',
)
const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/** The table of settings, in the order of the documentation. */
export const settings = {
  host: setting('host', {
    placeholder: 'address',
    schema: text,
    default: '127.0.0.1',
    description: 'Address to listen on; in development mode a loopback address.',
  }),
  port: setting('port', {
    placeholder: 'number',
    schema: port,
    default: 8080,
    description:
      'Port to listen on; 0 takes any that is free. With a certificate, only this machine is answered there.',
  }),
  httpsPort: setting('https-port', {
    placeholder: 'number',
    schema: port,
    default: 8443,
    description: 'Port to listen on over HTTPS, where there is a certificate.',
  }),
  httpsCertificateFile: setting('https-certificate-file', {
    placeholder: 'file',
    schema: text,
    description:
      'File with the certificate for HTTPS in PEM, and those that vouch for it; read anew every minute. Without it a proxy has to care for HTTPS.',
  }),
  httpsCertificateKeyFile: setting('https-certificate-key-file', {
    placeholder: 'file',
    schema: text,
    description: 'File with the private key of the certificate in PEM.',
  }),
  hostname: setting('hostname', {
    placeholder: 'URL',
    schema: z
      .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
      .refine((url) => !/[?#]/.test(url), 'must have neither query nor fragment')
      .transform((url) => url.replace(/\/+$/, '')),
    demanded: true,
    description:
      'Base URL under which clients reach the server. Without it, in development mode, the one that a request names, which must be `localhost`, a name below it, a loopback address or that of `--host`; with `--proxy-headers`, the one that the proxy names.',
  }),
  proxyHeaders: setting('proxy-headers', {
    placeholder: 'forwarded or xforwarded',
    schema: z.enum(['forwarded', 'xforwarded'], 'must be forwarded or xforwarded'),
    description:
      'The headers in which proxies say who asks and by which address, `Forwarded` or `X-Forwarded-*`, which they must set anew; without it none is believed.',
  }),
  proxyTrustedAddresses: setting('proxy-trusted-addresses', {
    placeholder: 'addresses',
    schema: list.refine((addresses) => addresses.every(isNetwork), 'must be addresses or networks such as 10.0.0.0/8'),
    description:
      'Addresses and networks of the proxies that are believed, separated with commas. Without it, this machine and private networks.',
  }),
  basePath: setting('base-path', {
    placeholder: 'path',
    schema: z.string().regex(/^(\/[\w.~-]+)+$/, 'must be a path such as /v1'),
    default: '/v1',
    description: 'Path under which the earlier form of the REST API is served.',
  }),
  data: setting('data', {
    placeholder: 'folder',
    schema: text,
    default: 'data',
    description: 'Folder of the embedded store, which serves where no database is named.',
  }),
  database: setting('database', {
    placeholder: 'URL',
    schema: z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres URL' }),
    demanded: true,
    description: 'PostgreSQL database (15 or later) to use instead of the embedded store.',
  }),
  keyFile: setting('key-file', {
    placeholder: 'file',
    schema: text,
    demanded: true,
    description:
      'File with the key that protects secrets at rest, the same for all replicas; by default that of the embedded store, `key` in its folder.',
  }),
  passwordLists: setting('password-lists', {
    placeholder: 'folder',
    schema: text,
    description:
      'Folder of lists that the policy `passwordBlacklist` names: text files with a password a line that nobody may choose.',
  }),
  outboundAllow: setting('outbound-allow', {
    placeholder: 'networks',
    schema: list.refine((networks) => networks.every(isNetwork), 'must be addresses or networks such as 10.0.0.0/8'),
    description:
      'Private networks that realms may name servers in (mail servers, identity providers, key sets, applications, repositories of resources), separated with commas. Without it none in production, and all in development mode. Link-local and metadata addresses are always refused.',
  }),
  source: setting('source', {
    placeholder: 'file, folder or git URL',
    schema: list,
    empty: true,
    description:
      'Where realms are declared: files, folders, or places in git repositories, such as `https://host/realms.git#main:prod` (branch, tag or commit, then folder or file; also `ssh://…`, `git@host:…` and `file:///…`). Repeat the flag, or separate with commas in the variable; empty is none. Without it, in development mode the folder `examples`, where there is one.',
  }),
  sources: setting('sources', {
    placeholder: 'file',
    schema: text,
    description:
      'File of sources: documents of the kind `RealmSource`, each with settings of its own; what they leave out is settled by the flags here. Read when the server starts.',
  }),
  sourceLimits: setting('source-limits', {
    placeholder: 'limits',
    schema: list
      .refine(
        (limits) => limits.every(parseSourceLimit),
        'must be like team=acme|beta:view-users|manage-users, with roles that administer a realm',
      )
      .transform((limits) => limits.flatMap((one) => parseSourceLimit(one) ?? [])),
    description:
      'What sources may touch, and which administrative power they give at most: `<source>=<realms>:<roles>`, separated with commas, where realms and roles are separated with `|`, `*` is all of them, nothing none, and the source `*` every other one. `team=acme|beta:view-users|manage-users` states the realms acme and beta, and gives nobody in them more than these roles.',
  }),
  sourceInterval: setting('source-interval', {
    placeholder: 'seconds',
    schema: seconds,
    default: 60,
    description:
      'How often the servers of git repositories are asked for another commit; one that does not answer is asked less often.',
  }),
  sourceLease: setting('source-lease', {
    placeholder: 'seconds',
    schema: seconds,
    default: 15,
    description:
      'Of several servers over one database one applies the sources. When there was no sign of life from it for so long, another one takes over.',
  }),
  sourceWebhookSecretFile: setting('source-webhook-secret-file', {
    placeholder: 'file',
    schema: text,
    description:
      'File with the secret by which webhooks are signed that tell of a push, at `/regent/v1/webhook`. Without it none are taken.',
  }),
  sourceSigners: setting('source-signers', {
    placeholder: 'file',
    schema: text,
    description:
      'File that names whose SSH signatures count, as `gpg.ssh.allowedSignersFile` of git has it: a commit that is not signed by one of them is not applied.',
  }),
  sourceVariables: setting('source-variables', {
    placeholder: 'names and folders',
    schema: variables,
    description:
      'What documents may take values from: `env:NAME`, `env:PREFIX_*` and `file:/folder`, separated with commas; never variables `REGENT_*`. Without it nothing, but in development mode everything for files and folders. Commands have `--variables` (`REGENT_VARIABLES`), without which their documents get nothing.',
  }),
  operator: setting('operator', {
    schema: z.union(
      [z.boolean(), z.stringbool({ truthy: ['true', '1'], falsy: ['false', '0'] })],
      'must be true or false',
    ),
    default: false,
    description:
      'Realms are declared by resources of Kubernetes too: those of the cluster that `KUBECONFIG` names, or that the server runs in. See docs/kubernetes.md.',
  }),
  operatorNamespaces: setting('operator-namespaces', {
    placeholder: 'names',
    schema: list,
    description: 'Namespaces whose resources count, separated with commas. Without it, all of them.',
  }),
  admissionPort: setting('admission-port', {
    placeholder: 'number',
    schema: port,
    default: 9443,
    description:
      'Port on which the API server of Kubernetes asks whether it may take a resource, where there is a certificate for it.',
  }),
  admissionCertificateFile: setting('admission-certificate-file', {
    placeholder: 'file',
    schema: text,
    description:
      'File with the certificate with which the API server is answered, in PEM, and those that vouch for it; read anew every minute. Without it it is not answered.',
  }),
  admissionCertificateKeyFile: setting('admission-certificate-key-file', {
    placeholder: 'file',
    schema: text,
    description: 'File with the private key of that certificate in PEM.',
  }),
  admissionClientCaFile: setting('admission-client-ca-file', {
    placeholder: 'file',
    schema: text,
    description:
      'File with the certificates that vouch for that of the API server, in PEM, which it must show then. Without it whoever reaches the port is answered.',
  }),
  driftWebhook: setting('drift-webhook', {
    placeholder: 'URL',
    schema: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
    description:
      'Address to which drift is posted as JSON, when something drifts and when it is settled; again for a day until it answers with success. The same for all replicas.',
  }),
  driftWebhookSecretFile: setting('drift-webhook-secret-file', {
    placeholder: 'file',
    schema: text,
    description:
      'File with the secret by which what is posted there is signed, in the header `X-Hub-Signature-256` as GitHub does.',
  }),
  unknownFields: setting('unknown-fields', {
    placeholder: 'error or warn',
    schema: z.enum(['error', 'warn'], 'must be error or warn'),
    default: 'error',
    description: 'What becomes of fields in the sources that Regent does not know: an error, or a note.',
  }),
  adminUser: setting('admin-user', {
    placeholder: 'name',
    schema: text,
    development: 'admin',
    description: 'First administrator, created where there is none; production needs this or an existing one.',
  }),
  adminPassword: setting('admin-password', {
    placeholder: 'password',
    schema: text,
    development: 'admin',
    description: 'Password of the first administrator.',
  }),
  production: setting('production', {
    schema: z.union(
      [z.boolean(), z.stringbool({ truthy: ['true', '1'], falsy: ['false', '0'] })],
      'must be true or false',
    ),
    default: false,
    description: 'Production mode: any address may be listened on, and nothing that protects is made up.',
  }),
  logLevel: setting('log-level', {
    placeholder: 'level',
    schema: z.enum(logLevels, `must be one of ${logLevels.join(', ')}`),
    default: 'warn',
    description: `How much is logged: ${logLevels.join(', ')}.`,
  }),
}

/** How a key comes into being where none is made up. */
export const MAKE_KEY = 'make one with "openssl rand -base64 32 > key"'

const table: readonly [name: string, setting: Setting][] = Object.entries(settings)

type ValueOf<S extends Setting> = z.output<S['schema']> | (S extends { default: unknown } ? never : undefined)

/** The value of every setting. Production guarantees the database, the host name and the key file as well. */
export type Settings = { readonly [Name in keyof typeof settings]: ValueOf<(typeof settings)[Name]> }

/** Everything that is wrong with the settings, one line each; never a value, which may be a secret. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'

  constructor(problems: ReadonlyMap<string, string>) {
    const lines = table.flatMap(([name, { flag, variable }]) =>
      problems.has(name) ? [`  ${flag} (${variable}): ${problems.get(name)}`] : [],
    )
    super(['These settings are wrong or missing:', ...lines].join('\n'))
  }
}

/** The settings from flags (by name, as `adminUser`), else variables (an empty one is as absent), else defaults. */
export function readSettings(flags: Record<string, unknown>, env: Record<string, string | undefined>): Settings {
  const values: Record<string, unknown> = {}
  const problems = new Map<string, string>()
  const demand = (name: string, reason: string) => {
    if (values[name] === undefined && !problems.has(name)) problems.set(name, reason)
  }

  for (const [name, setting] of table) {
    const variable = env[setting.variable]
    const given = flags[name] ?? (variable === '' && !setting.empty ? undefined : variable)
    const parsed = setting.schema.optional().safeParse(given)
    if (parsed.success) values[name] = parsed.data ?? setting.default
    else problems.set(name, parsed.error.issues[0]!.message)
  }
  if (values.httpsCertificateFile !== undefined) demand('httpsCertificateKeyFile', 'goes with the certificate')
  if (values.httpsCertificateKeyFile !== undefined) demand('httpsCertificateFile', 'goes with the key of a certificate')
  if (values.admissionCertificateFile !== undefined) demand('admissionCertificateKeyFile', 'goes with the certificate')
  if (values.admissionCertificateKeyFile !== undefined)
    demand('admissionCertificateFile', 'goes with the key of a certificate')
  if (values.admissionCertificateFile !== undefined && values.operator === false)
    problems.set('operator', 'goes with the certificate for admission')
  if (values.admissionClientCaFile !== undefined) demand('admissionCertificateFile', 'goes with those who ask by it')
  if (values.proxyTrustedAddresses !== undefined) demand('proxyHeaders', 'goes with the addresses of proxies')
  if (values.driftWebhookSecretFile !== undefined) demand('driftWebhook', 'goes with the secret')
  if (values.production === true) {
    for (const [name, setting] of table) if (setting.demanded) demand(name, 'production demands it')
    if (values.adminUser !== undefined) demand('adminPassword', 'goes with the name of the administrator')
    if (values.adminPassword !== undefined) demand('adminUser', 'goes with the password of the administrator')
  } else if (!problems.has('production')) {
    for (const [name, setting] of table) values[name] ??= setting.development
    if (!problems.has('host') && !isLoopback(values.host as string)) {
      problems.set('host', 'development mode listens on a loopback address only')
    }
    if (values.database !== undefined) demand('keyFile', `goes with a database: ${MAKE_KEY}`)
  }
  if (problems.size > 0) throw new SettingsError(problems)

  return values as unknown as Settings
}

/** docs/configuration.md. */
export function renderSettingsTable(): string {
  const rows = table.map(([, setting]) => {
    const flag = setting.placeholder ? `${setting.flag} <${setting.placeholder}>` : setting.flag
    return `| \`${flag}\` | \`${setting.variable}\` | ${renderDefault(setting)} | ${setting.description} |`
  })
  const demanded = table.flatMap(([, { demanded, flag }]) => (demanded ? [`\`${flag}\``] : []))
  return `# Configuration

A setting is read from its flag, else from its variable, else it has its default. An empty variable counts as absent.

| Flag | Variable | Default | Meaning |
|---|---|---|---|
${rows.join('\n')}

Development mode, the default, listens on a loopback address only and makes up what protects the server: the first
administrator \`admin\` with the password \`admin\`, and, together with a new embedded store, its key: the file \`key\`
in the data folder. A database goes with \`--key-file\`. A store is opened with the key that it was made with only.

Production mode makes up nothing. It demands ${demanded.join(', ')},
and an administrator: in the store, or in the settings.
`
}

function renderDefault(setting: Setting): string {
  if (setting.development !== undefined) return `\`${setting.development}\` in development`
  if (setting.default === undefined) return ''
  return `\`${setting.default}\``
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  const version = isIP(address)
  const longest = version === 4 ? 32 : 128
  return (
    version !== 0 && !more.length && (bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= longest))
  )
}

function setting<const Description extends Omit<Setting, 'flag' | 'variable'>>(name: string, description: Description) {
  return { ...description, flag: `--${name}`, variable: `REGENT_${name.toUpperCase().replaceAll('-', '_')}` }
}
