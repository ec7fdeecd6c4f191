// The settings of the server, described once: flags, environment variables, defaults, documentation.
import { isIP } from 'node:net'
import * as z from 'zod'
import { parseSourcePermissions } from './kinds/source-permission-setting.ts'
import { isLoopback } from './lib/http/loopback.ts'

/** A setting of the server: its flag, its environment variable and its default. */
export interface Setting {
  /** `--admin-user` */
  readonly flag: string
  /** `REGENT_ADMIN_USER` */
  readonly variable: string
  /** Name of the value in help texts. Absent for a switch. */
  readonly placeholder?: string
  readonly schema: z.ZodType
  readonly default?: unknown
  /** The default in development mode only. */
  readonly development?: string
  /** Production mode does not start without it. */
  readonly isRequired?: true
  /** An empty variable is a value. Otherwise it counts as absent. */
  readonly empty?: true
  /** The help text, in the imperative: at most 60 characters without a full stop. */
  readonly summary: string
  /** The text of docs/configuration.md. */
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
const workersNumber = 'must be a whole number from 1 to 64'
const connectionsNumber = 'must be a whole number from 2 to 1000'
/** A list of texts, or a text with commas between them. */
export const list = z
  .union([z.string().transform((text) => text.split(',')), z.array(z.string())])
  .transform((items) => items.map((item) => item.trim()).filter((item) => item !== ''))
/** The variables and folders that documents may use, as a list. */
export const variables = list.refine(
  (items) => items.every((item) => /^(env:\w+\*?|file:.+)$/.test(item)),
  'must be like env:NAME,env:PREFIX_*,file:/folder',
)
const retentionForm = 'must be like configuration=730d,users=90d, in whole days from 1d'
/** The days for which each stream of the journal is kept, as a list. */
const retention = list
  .refine((items) => items.every((item) => /^(configuration|users)=[1-9]\d{0,4}d$/.test(item)), retentionForm)
  .refine((items) => new Set(items.map((item) => item.split('=')[0])).size === items.length, retentionForm)
  .transform((items) => {
    const days = new Map(items.map((item) => [item.split('=')[0], Number.parseInt(item.split('=')[1]!, 10)]))
    return { configuration: days.get('configuration'), users: days.get('users') }
  })
const logFormats = ['auto', 'text', 'json'] as const
const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/** The table of settings, in the order of the documentation. */
export const settings = {
  host: setting('host', {
    placeholder: 'address',
    schema: text,
    default: '127.0.0.1',
    summary: 'Listen on this address',
    description: 'Address to listen on. In development mode it must be a loopback address.',
  }),
  port: setting('port', {
    placeholder: 'number',
    schema: port,
    default: 8080,
    summary: 'Listen on this port; 0 chooses a free one',
    description:
      'Port to listen on; 0 chooses a free one. With an HTTPS certificate this port accepts only connections from this machine.',
  }),
  httpsPort: setting('https-port', {
    placeholder: 'number',
    schema: port,
    default: 8443,
    summary: 'Listen on this port over HTTPS',
    description: 'Port to listen on over HTTPS, if there is a certificate.',
  }),
  httpsCertificateFile: setting('https-certificate-file', {
    placeholder: 'file',
    schema: text,
    summary: 'Read the HTTPS certificate from this PEM file',
    description:
      'PEM file with the HTTPS certificate and its chain. It is read again every minute. Without it, a proxy must provide HTTPS.',
  }),
  httpsCertificateKeyFile: setting('https-certificate-key-file', {
    placeholder: 'file',
    schema: text,
    summary: 'Read the key of the certificate from this file',
    description: 'File with the private key of the certificate in PEM.',
  }),
  httpsClientCaFile: setting('https-client-ca-file', {
    placeholder: 'file',
    schema: text,
    summary: 'Accept client certificates of CAs in this file',
    description:
      'PEM file with the CA certificates for the TLS certificates of clients, which authenticate by them or have their tokens bound to them. Clients without a certificate may connect, too.',
  }),
  hostname: setting('hostname', {
    placeholder: 'URL',
    schema: z
      .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
      .refine((url) => !/[?#]/.test(url), 'must have neither query nor fragment')
      .transform((url) => url.replace(/\/+$/, '')),
    isRequired: true,
    summary: 'Set the base URL of the server',
    description:
      'Base URL under which clients reach the server. The default in development mode is the URL of the request, whose host must be `localhost`, a name below it, a loopback address or that of `--host`. With `--proxy-headers` it is the host that the proxy names.',
  }),
  proxyHeaders: setting('proxy-headers', {
    placeholder: 'forwarded or xforwarded',
    schema: z.enum(['forwarded', 'xforwarded'], 'must be forwarded or xforwarded'),
    summary: 'Trust these headers of a proxy',
    description:
      'Headers in which a proxy passes on the address of the client and the original host: `Forwarded` or `X-Forwarded-*`. The proxy must overwrite them. By default they are ignored.',
  }),
  proxyTrustedAddresses: setting('proxy-trusted-addresses', {
    placeholder: 'addresses',
    schema: list.refine((addresses) => addresses.every(isNetwork), 'must be addresses or networks such as 10.0.0.0/8'),
    summary: 'Trust proxies at these addresses and networks',
    description:
      'Addresses and networks of trusted proxies, separated by commas. The default is this machine and private networks.',
  }),
  proxyCertificateHeader: setting('proxy-certificate-header', {
    placeholder: 'rfc9440, nginx or haproxy',
    schema: z.enum(['rfc9440', 'nginx', 'haproxy'], 'must be rfc9440, nginx or haproxy'),
    summary: 'Trust client certificates in this header of a proxy',
    description:
      'Header in which a trusted proxy passes on the verified TLS certificate of a client: `Client-Cert` as in RFC 9440, or `SSL-Client-Cert` with the escaped PEM of nginx or the base64 of HAProxy. The proxy must remove the header that a client sends.',
  }),
  basePath: setting('base-path', {
    placeholder: 'path',
    schema: z.string().regex(/^(\/[\w.~-]+)+$/, 'must be a path such as /v1'),
    default: '/v1',
    summary: 'Serve the legacy REST API below this path',
    description: 'Path of the legacy REST API.',
  }),
  data: setting('data', {
    placeholder: 'folder',
    schema: text,
    default: 'data',
    summary: 'Keep the embedded store in this folder',
    description: 'Folder of the embedded store, which is used if no database is given.',
  }),
  database: setting('database', {
    placeholder: 'URL',
    schema: z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres URL' }),
    isRequired: true,
    summary: 'Use this PostgreSQL database',
    description: 'PostgreSQL database (15 or later). The default is the embedded store.',
  }),
  databaseDirect: setting('database-direct', {
    placeholder: 'URL',
    schema: z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres URL' }),
    summary: 'Listen for changes through this URL, without the pooler',
    description:
      'URL of the same database without a connection pooler. It is required if `--database` is the URL of a pooler in transaction mode, through which PostgreSQL cannot notify servers of changes. Commands that open the database use it too.',
  }),
  databasePool: setting('database-pool', {
    placeholder: 'number',
    schema: z.coerce
      .number(connectionsNumber)
      .refine((count) => count >= 2 && count <= 1_000 && Number.isInteger(count), connectionsNumber),
    default: 10,
    summary: 'Open at most this many database connections',
    description: 'The most connections to the database, besides the one on which the server is notified of changes.',
  }),
  workers: setting('workers', {
    placeholder: 'number',
    schema: z.coerce
      .number(workersNumber)
      .refine((count) => count >= 1 && count <= 64 && Number.isInteger(count), workersNumber),
    default: 1,
    summary: 'Serve from this many processes; needs PostgreSQL',
    description:
      'Number of processes that serve requests behind one port, for machines with several cores. Each has its own database connections. Needs PostgreSQL.',
  }),
  databasePreparedStatements: setting('database-prepared-statements', {
    placeholder: 'on or off',
    schema: z.enum(['on', 'off'], 'must be on or off'),
    default: 'on',
    summary: 'Prepare statements on database connections',
    description:
      'Whether connections prepare statements, which makes most requests about twice as fast. It must be `off` for a pooler in transaction mode that does not support prepared statements, such as PgBouncer before 1.21.',
  }),
  keyFile: setting('key-file', {
    placeholder: 'file',
    schema: text,
    isRequired: true,
    summary: 'Read the key of the store from this file',
    description:
      'File with the key that protects secrets at rest, the same for all replicas. The default of an embedded store is the file `key` in its folder.',
  }),
  passwordLists: setting('password-lists', {
    placeholder: 'folder',
    schema: text,
    summary: 'Read lists of forbidden passwords from this folder',
    description:
      'Folder with lists for the password policy `passwordBlacklist`: text files with one password per line.',
  }),
  vaultDir: setting('vault-dir', {
    placeholder: 'folder',
    schema: text,
    summary: 'Read the secrets of `${vault.key}` from this folder',
    description:
      "Folder with the secrets to which realms refer by `${vault.key}`, with Keycloak's names: the file `realm_key` for the secret `key` of the realm `realm`, with each underscore in the names doubled. Files are read at each use. See [variables-and-secrets.md](variables-and-secrets.md#secrets-from-a-vault-directory).",
  }),
  keyStoreDir: setting('key-store-dir', {
    placeholder: 'folder',
    schema: text,
    summary: 'Read the key stores of key providers from this folder',
    description:
      'Folder with the key stores to which key providers of the type `java-keystore` refer: JKS or PKCS#12. Of the path in `keystore` only the name of the file counts. A file is read when the server first uses its key. See [variables-and-secrets.md](variables-and-secrets.md#keys-in-key-stores).',
  }),
  clientSearchableAttributes: setting('client-searchable-attributes', {
    placeholder: 'names',
    schema: list,
    summary: 'Let clients be searched by these attributes too',
    description:
      "Attributes by which `GET /admin/realms/{realm}/clients` finds clients with `q`, separated by commas. They are added to those of Keycloak: `saml_idp_initiated_sso_url_name`, `saml.artifact.binding.identifier`, `jwt.credential.issuer` and `jwt.credential.sub`. It corresponds to Keycloak's `--spi-client--jpa--searchable-attributes`.",
  }),
  outboundAllow: setting('outbound-allow', {
    placeholder: 'networks',
    schema: list.refine((networks) => networks.every(isNetwork), 'must be addresses or networks such as 10.0.0.0/8'),
    summary: 'Let realms connect to these private networks',
    description:
      'Private networks that realms may connect to (mail servers, identity providers, key sets, applications, git repositories), separated by commas. The default is none in production and all in development mode. Addresses of the server itself count as private. Link-local and metadata addresses are always refused.',
  }),
  source: setting('source', {
    placeholder: 'file, folder or git URL',
    schema: list,
    empty: true,
    summary: 'Reconcile this file, folder or git URL; repeatable',
    description:
      'Sources of declarations: files, folders, or git URLs such as `https://host/realms.git#main:prod` (branch, tag or commit, then a folder or file; also `ssh://…`, `git@host:…` and `file:///…`). Repeat the flag, or separate with commas in the variable; empty means none. The default in development mode is the folder `examples`, if it exists.',
  }),
  sources: setting('sources', {
    placeholder: 'file',
    schema: text,
    summary: 'Read sources with their settings from this file',
    description:
      'File with sources: documents of kind `RealmSource`, each with its own settings. Settings that a source leaves out come from the flags. The file is read at start.',
  }),
  sourcePermissions: setting('source-permissions', {
    placeholder: 'permissions',
    schema: list
      .refine(
        (items) => items.every(parseSourcePermissions),
        'must be like team=acme|beta:view-users|manage-users, with roles that administer a realm',
      )
      .transform((items) => items.flatMap((item) => parseSourcePermissions(item) ?? [])),
    summary: 'Limit the realms, objects and roles of sources',
    description:
      'Realms that a source may declare, and admin roles that it may grant: `<source>=<realms>:<roles>`, separated by commas. Realms and roles are separated by `|`; `*` means all, nothing means none, and the source `*` is any other source. A git source may be named by its URL. With `team=acme|beta:view-users|manage-users` the source `team` may declare the realms acme and beta and grant these two roles. With `:<kinds>:<names>` at the end the source is a tenant, which declares only such objects, and no built-in or foreign ones: `team=acme::RealmClient|RealmGroup:team-*`. By default a source may do everything.',
  }),
  sourceInterval: setting('source-interval', {
    placeholder: 'seconds',
    schema: seconds,
    default: 60,
    summary: 'Poll git repositories after this many seconds',
    description: 'Seconds between polls of git repositories. A repository that does not respond is polled less often.',
  }),
  sourceLease: setting('source-lease', {
    placeholder: 'seconds',
    schema: seconds,
    default: 15,
    summary: 'Take over after this many seconds without a sign',
    description:
      'Seconds without a sign of life after which another replica takes over. Of several servers with one database, one applies the sources.',
  }),
  sourceWebhookSecretFile: setting('source-webhook-secret-file', {
    placeholder: 'file',
    schema: text,
    summary: 'Read the secret of push webhooks from this file',
    description:
      'File with the secret that signs webhooks of pushes, at `/regent/v1/webhook`. Without it the webhook is disabled.',
  }),
  sourceSigners: setting('source-signers', {
    placeholder: 'file',
    schema: text,
    summary: 'Accept only commits signed with keys in this file',
    description:
      "File with the SSH keys whose signatures are accepted, in the format of git's `gpg.ssh.allowedSignersFile`. Commits without such a signature are not applied.",
  }),
  ageKeyFile: setting('age-key-file', {
    placeholder: 'file',
    schema: text,
    summary: 'Decrypt documents of SOPS with the keys in this file',
    description:
      'File with secret keys of age, which decrypt the documents of sources that SOPS has encrypted. It is read whenever such a document is. Keys in the variables `SOPS_AGE_KEY` and `SOPS_AGE_KEY_FILE` of SOPS count too. A source with `decryption` in the file of `--sources` uses only its own key. See [encrypted-files.md](encrypted-files.md).',
  }),
  requireSecondApprover: setting('require-second-approver', {
    schema: z.union(
      [z.boolean(), z.stringbool({ truthy: ['true', '1'], falsy: ['false', '0'] })],
      'must be true or false',
    ),
    default: false,
    summary: 'Let authors of a plan not approve it',
    description:
      'Whether the users who made the changes of a plan may not approve it: the authors of commits, the users who edited resources, or the caller of the apply. See docs/permissions.md.',
  }),
  sourceVariables: setting('source-variables', {
    placeholder: 'names and folders',
    schema: variables,
    summary: 'Allow documents these variables and folders',
    description:
      'Variables and folders that documents may use: `env:NAME`, `env:PREFIX_*` and `file:/folder`, separated by commas; never variables `REGENT_*`. The default is none; in development mode it is everything for files and folders. Commands have `--variables` (`REGENT_VARIABLES`) instead.',
  }),
  operator: setting('operator', {
    schema: z.union(
      [z.boolean(), z.stringbool({ truthy: ['true', '1'], falsy: ['false', '0'] })],
      'must be true or false',
    ),
    default: false,
    summary: 'Reconcile Kubernetes resources',
    description:
      'Whether Kubernetes resources declare realms too: those of the cluster in `KUBECONFIG`, or of the cluster that the server runs in. See docs/kubernetes/.',
  }),
  operatorNamespaces: setting('operator-namespaces', {
    placeholder: 'names',
    schema: list,
    summary: 'Apply only resources of these namespaces',
    description:
      'Namespaces whose resources are read and applied, separated by commas. Each needs a Role, but no ClusterRole. The default is all.',
  }),
  operatorSecrets: setting('operator-secrets', {
    placeholder: 'names',
    schema: list,
    summary: 'Read only Secrets with these names',
    description:
      'Names of the Secrets that resources may refer to and that Regent may write, separated by commas. The default is those with the label `regent.dev/secret: "true"`.',
  }),
  operatorClass: setting('operator-class', {
    placeholder: 'name',
    schema: z
      .string()
      .regex(/^[a-z0-9]([a-z0-9-]{0,50}[a-z0-9])?$/, 'must be like "staging": lower-case letters, digits and hyphens'),
    summary: 'Apply only resources of this class',
    description:
      'Class of the resources that are applied: the value of their label `regent.dev/class`, so that several servers with stores of their own work in one cluster. The default is resources without that label.',
  }),
  operatorLease: setting('operator-lease', {
    placeholder: 'name',
    schema: z.string().min(1),
    summary: 'Hold the Lease with this name',
    description:
      'Name of the Lease that the replica which applies resources holds in the namespace of the server. Servers over one store must have the same. The default is `regent`, or `regent-` and the class.',
  }),
  fluxArtifactHosts: setting('flux-artifact-hosts', {
    placeholder: 'hosts',
    schema: list,
    default: ['source-controller.flux-system.svc.cluster.local'],
    summary: 'Download artifacts of Flux from these hosts',
    description:
      'Hosts that serve artifacts of Flux, which `sourceRef` of a RealmSource names, separated by commas. They may be in a private network, which other hosts may only if `--outbound-allow` names it. The default is the source-controller in the namespace `flux-system`.',
  }),
  adoptableRealms: setting('adoptable-realms', {
    placeholder: 'realms',
    schema: list
      .refine((items) => items.every((item) => /^[^=]+=[^=]+$/.test(item)), 'must be like platform=acme|beta')
      .transform((items) =>
        items.map((item) => {
          const [namespace = '', realms = ''] = item.split('=')
          return { namespace, realms: realms.split('|') }
        }),
      ),
    summary: 'Let namespaces adopt or observe existing realms',
    description:
      'Existing realms that the Realms of a namespace may adopt or observe: `<namespace>=<realms>`, separated by commas, with realms separated by `|`. See docs/kubernetes/. The default is none.',
  }),
  admissionPort: setting('admission-port', {
    placeholder: 'number',
    schema: port,
    default: 9443,
    summary: 'Serve the admission webhook on this port',
    description: 'Port of the Kubernetes admission webhook, if there is a certificate for it.',
  }),
  admissionCertificateFile: setting('admission-certificate-file', {
    placeholder: 'file',
    schema: text,
    summary: 'Read the admission certificate from this PEM file',
    description:
      'PEM file with the certificate of the admission webhook and its chain. It is read again every minute. Without it the webhook is disabled.',
  }),
  admissionCertificateKeyFile: setting('admission-certificate-key-file', {
    placeholder: 'file',
    schema: text,
    summary: 'Read the key of that certificate from this file',
    description: 'PEM file with the private key of that certificate.',
  }),
  admissionWebhook: setting('admission-webhook', {
    placeholder: 'name',
    schema: z.string().min(1),
    summary: 'Make the certificate of this webhook',
    description:
      'Name of the ValidatingWebhookConfiguration for which Regent makes a certificate itself, renews it, and keeps it in a Secret with the name of the service of the webhook. Instead of certificate files.',
  }),
  admissionClientCaFile: setting('admission-client-ca-file', {
    placeholder: 'file',
    schema: text,
    summary: 'Require client certificates of CAs in this file',
    description:
      'PEM file with the CA certificates for the client certificate of the Kubernetes API server. Without it no client certificate is required.',
  }),
  console: setting('console', {
    placeholder: 'on or off',
    schema: z.enum(['on', 'off'], 'must be on or off'),
    default: 'on',
    summary: 'Serve the web console, at /console',
    description: 'Whether the web console is served, at `/console`. See docs/console.md.',
  }),
  adminConsole: setting('admin-console', {
    placeholder: 'folder',
    schema: text,
    summary: "Serve Keycloak's admin console from this folder",
    description:
      "Folder with Keycloak's admin console of a version 26.x, which is then served at `/admin`: its jars, or their unpacked files. See docs/keycloak-admin-console.md.",
  }),
  managementPort: setting('management-port', {
    placeholder: 'number',
    schema: port,
    summary: 'Serve metrics and health on a port of their own',
    description:
      'Port of `/metrics` and `/health`, over HTTP, which are then not on the other ports. By default they are on the port of clients.',
  }),
  driftWebhook: setting('drift-webhook', {
    placeholder: 'URL',
    schema: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
    summary: 'Send drift as JSON to this URL',
    description:
      'URL that receives drift as JSON when it begins and ends. A failed delivery is repeated for a day. Use the same for all replicas.',
  }),
  driftWebhookSecretFile: setting('drift-webhook-secret-file', {
    placeholder: 'file',
    schema: text,
    summary: 'Read the secret of drift webhooks from this file',
    description: 'File with the secret that signs these deliveries, in the header `X-Hub-Signature-256`.',
  }),
  notifications: setting('notifications', {
    placeholder: 'file',
    schema: text,
    summary: 'Notify the receivers in this file',
    description:
      'YAML file with the receivers of notifications, such as a channel of Slack: of applied, pending and refused changes, and of drift. See docs/notifications.md. Use the same for all replicas.',
  }),
  auditLog: setting('audit-log', {
    placeholder: 'stdout or file',
    schema: text,
    summary: 'Write the audit trail as JSON lines to this file',
    description:
      'File to which the audit trail of all realms is appended, one JSON object per line, or `stdout`. Each entry is written once, by one of the replicas. See docs/production.md. By default there is no audit trail.',
  }),
  auditWebhook: setting('audit-webhook', {
    placeholder: 'URL',
    schema: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
    summary: 'Send the audit trail as JSON to this URL',
    description:
      'URL that receives the audit trail of all realms as JSON. A failed delivery is repeated until it succeeds. Use the same for all replicas.',
  }),
  auditWebhookSecretFile: setting('audit-webhook-secret-file', {
    placeholder: 'file',
    schema: text,
    summary: 'Read the secret of audit webhooks from this file',
    description: 'File with the secret that signs these deliveries, in the header `X-Hub-Signature-256`.',
  }),
  environment: setting('environment', {
    placeholder: 'name',
    schema: text,
    summary: 'Use this environment of regent.yaml',
    description:
      'Environment of the project file `regent.yaml` of each `--source`. It is part of the names of these sources.',
  }),
  journalRetention: setting('journal-retention', {
    placeholder: 'streams',
    schema: retention,
    summary: 'Delete older journal entries of these streams',
    description:
      'Days after which entries of the journal are deleted, for each stream: `configuration=730d,users=90d`. `configuration` is the history of realms: a realm cannot be rolled back to a deleted revision. `users` is the history of users. A stream that is not named is kept. The last change of a realm is always kept. Use the same for all replicas.',
  }),
  unknownFields: setting('unknown-fields', {
    placeholder: 'error or warn',
    schema: z.enum(['error', 'warn'], 'must be error or warn'),
    default: 'error',
    summary: 'Choose the severity of unknown fields',
    description: 'Whether unknown fields in documents are an error or a warning.',
  }),
  adminUser: setting('admin-user', {
    placeholder: 'name',
    schema: text,
    development: 'admin',
    summary: 'Create this first administrator if there is none',
    description:
      'First administrator, created while the master realm has no users. Production needs this or an existing administrator.',
  }),
  adminPassword: setting('admin-password', {
    placeholder: 'password',
    schema: text,
    development: 'admin',
    summary: 'Set the password of the first administrator',
    description: 'Password of the first administrator.',
  }),
  production: setting('production', {
    schema: z.union(
      [z.boolean(), z.stringbool({ truthy: ['true', '1'], falsy: ['false', '0'] })],
      'must be true or false',
    ),
    default: false,
    summary: 'Start in production mode, without default credentials',
    description: 'Production mode: the server may listen on any address, and no key or password has a default.',
  }),
  logLevel: setting('log-level', {
    placeholder: 'level',
    schema: z.enum(logLevels, `must be one of ${logLevels.join(', ')}`),
    default: 'warn',
    summary: 'Choose how much is logged',
    description: `How much is logged: ${logLevels.join(', ')}.`,
  }),
  logFormat: setting('log-format', {
    placeholder: 'format',
    schema: z.enum(logFormats, `must be one of ${logFormats.join(', ')}`),
    default: 'auto',
    summary: 'Choose the form of log lines',
    description:
      'The form of log lines: `json`, `text` for reading, or `auto`, which is `text` on a terminal and `json` otherwise.',
  }),
}

/** Advice on creating a key, for the end of a message. */
export const CREATE_KEY_ADVICE = 'create one with "openssl rand -base64 32 > key"'

const table: readonly [name: string, setting: Setting][] = Object.entries(settings)

type ValueOf<S extends Setting> = z.output<S['schema']> | (S extends { default: unknown } ? never : undefined)

/** The value of every setting. In production mode those that it requires are present. */
export type ServerSettings = { readonly [Name in keyof typeof settings]: ValueOf<(typeof settings)[Name]> }

/** Lists invalid and missing settings, one per line. It never shows values, which may be secret. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'

  constructor(problems: ReadonlyMap<string, string>) {
    const lines = table.flatMap(([name, { flag, variable }]) =>
      problems.has(name) ? [`  ${flag} (${variable}): ${problems.get(name)}`] : [],
    )
    super(['These settings are invalid or missing:', ...lines].join('\n'))
  }
}

/** Settings that need another one, with the reason. */
const dependencies: readonly [setting: keyof typeof settings, needs: keyof typeof settings, reason: string][] = [
  ['httpsCertificateFile', 'httpsCertificateKeyFile', 'required with an HTTPS certificate'],
  ['httpsCertificateKeyFile', 'httpsCertificateFile', 'required with the key of a certificate'],
  ['admissionCertificateFile', 'admissionCertificateKeyFile', 'required with an admission certificate'],
  ['admissionCertificateKeyFile', 'admissionCertificateFile', 'required with the key of a certificate'],
  ['databaseDirect', 'database', 'required with a direct connection to the database'],
  ['proxyTrustedAddresses', 'proxyHeaders', 'required with addresses of proxies'],
  ['proxyCertificateHeader', 'proxyHeaders', 'required with certificates from a proxy'],
  ['httpsClientCaFile', 'httpsCertificateFile', 'required with a client CA'],
  ['driftWebhookSecretFile', 'driftWebhook', 'required with its secret'],
  ['auditWebhookSecretFile', 'auditWebhook', 'required with its secret'],
]

/** Returns the settings: from flags by name, such as `adminUser`, else from variables, else defaults. @throws SettingsError */
export function readSettings(flags: Record<string, unknown>, env: Record<string, string | undefined>): ServerSettings {
  const { values, problems } = parseSettings(flags, env)
  const requireSetting = (name: string, reason: string) => {
    if (values[name] === undefined && !problems.has(name)) problems.set(name, reason)
  }
  for (const [name, needed, reason] of dependencies) if (values[name] !== undefined) requireSetting(needed, reason)
  if (Number(values.workers) > 1) requireSetting('database', 'required with several workers')
  const hasAdmission = (values.admissionCertificateFile ?? values.admissionWebhook) !== undefined
  if (hasAdmission && values.operator === false) problems.set('operator', 'required with an admission certificate')
  if (!hasAdmission && values.admissionClientCaFile !== undefined)
    problems.set('admissionCertificateFile', 'required with a client CA')
  if (values.admissionCertificateFile !== undefined && values.admissionWebhook !== undefined)
    problems.set('admissionWebhook', 'excludes certificate files')
  if (values.production === true) {
    for (const [name, setting] of table) if (setting.isRequired) requireSetting(name, 'required in production mode')
    if (values.adminUser !== undefined) requireSetting('adminPassword', 'required with the name of the administrator')
    if (values.adminPassword !== undefined)
      requireSetting('adminUser', 'required with the password of the administrator')
  } else if (!problems.has('production')) {
    for (const [name, setting] of table) values[name] ??= setting.development
    if (!problems.has('host') && !isLoopback(String(values.host)))
      problems.set('host', 'must be a loopback address in development mode')
    if (values.database !== undefined) requireSetting('keyFile', `required with a database: ${CREATE_KEY_ADVICE}`)
  }
  if (problems.size > 0) throw new SettingsError(problems)
  return values as ServerSettings
}

function parseSettings(flags: Record<string, unknown>, env: Record<string, string | undefined>) {
  const values: Record<string, unknown> = {}
  const problems = new Map<string, string>()
  for (const [name, setting] of table) {
    const variable = env[setting.variable]
    const value = flags[name] ?? (variable === '' && !setting.empty ? undefined : variable)
    const parsed = setting.schema.optional().safeParse(value)
    if (parsed.success) values[name] = parsed.data ?? setting.default
    else problems.set(name, parsed.error.issues[0]!.message)
  }
  return { values, problems }
}

/** Renders docs/configuration.md. */
export function renderSettingsTable(): string {
  const rows = table.map(([, setting]) => {
    const flag = setting.placeholder ? `${setting.flag} <${setting.placeholder}>` : setting.flag
    return `| \`${flag}\` | \`${setting.variable}\` | ${renderDefault(setting)} | ${setting.description} |`
  })
  const required = table.flatMap(([, { isRequired, flag }]) => (isRequired ? [`\`${flag}\``] : []))
  return `# Configuration

Each setting comes from its flag, else from its environment variable, else from its default. An empty variable counts as absent.

| Flag | Variable | Default | Meaning |
|---|---|---|---|
${rows.join('\n')}

**Development mode** is the default. It listens on a loopback address only. The first administrator is \`admin\` with the password \`admin\`.
A new embedded store gets a generated key, the file \`key\` in the data folder. A database requires \`--key-file\`.
A store can be opened only with its own key.

**Production mode** has no such defaults. It requires ${required.join(', ')},
and an administrator in the store or in the settings.
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
