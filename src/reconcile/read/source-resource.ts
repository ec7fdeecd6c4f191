// The spec of a RealmSource: in the file of `--sources` and, with fewer fields, in Kubernetes.
import * as z from 'zod'
import { grantableRoles, tenantPermissionFields } from '../../kinds/source-permission-setting.ts'
import { sourceSettings } from '../../kinds/source-settings.ts'
import { duration, interval } from '../../realm-file/resources/duration.ts'

const text = z.string().min(1, 'must not be empty')

/** Numbers of GitHub, which YAML reads as such. */
const identifier = z.union([text, z.int().positive().transform(String)], 'must be an ID')

/** The fields of the status of commits, without those of its token. */
export const commitStatusFields = {
  provider: z.enum(['github', 'gitlab', 'gitea']).describe('Kind of the host: github, gitlab or gitea (also Forgejo).'),
  context: text
    .max(255)
    .optional()
    .describe(
      'Label that distinguishes the status from those of other systems. Default: `regent/` and the name of the source, in Kubernetes `regent/<namespace>/<name>`.',
    ),
  targetUrl: z
    .url({ protocol: /^https?$/, error: 'must be an https URL' })
    .max(255)
    .optional()
    .describe('Page that the status links to. Default: none.'),
  apiUrl: z
    .url({ protocol: /^https?$/, error: 'must be an https URL' })
    .optional()
    .describe(
      'URL of the API of the host. Default: that of the host of the repository, such as `https://api.github.com`.',
    ),
}

const commitStatus = z.strictObject({
  ...commitStatusFields,
  tokenFile: text
    .optional()
    .describe(
      'File with a token that may set statuses, relative to this file. Default: the GitHub App of the credentials.',
    ),
})

/** Settings of the status of commits, without its token. */
export type CommitStatusFields = Omit<z.output<typeof commitStatus>, 'tokenFile'>

/** The spec of a RealmSource. */
export const realmSourceSpec = z.strictObject({
  url: text
    .optional()
    .describe('URL of a git repository (https, ssh or file). Exactly one of url and path is required.'),
  ref: text.optional().describe("Branch, tag or full commit hash. Default: the repository's default branch."),
  folder: text.optional().describe('Folder or file in the repository. Default: the whole repository.'),
  environment: text
    .optional()
    .describe(
      'Environment of the regent.yaml in the folder or above it, whose variables and overlays apply. Default: none.',
    ),
  path: text
    .optional()
    .describe(
      "File or folder on the server's machine, relative to this file. Exactly one of url and path is required.",
    ),
  credentials: z
    .strictObject({
      username: text.optional().describe('User name. Many hosts accept any name with a token. Default: git.'),
      passwordFile: text.optional().describe('File with the password or token, relative to this file.'),
      identityFile: text.optional().describe('File with a private key for ssh, such as a deploy key.'),
      knownHostsFile: text
        .optional()
        .describe('File with the host keys of the ssh server. Required with identityFile.'),
      githubApp: z
        .strictObject({
          appId: identifier.describe('ID of the app.'),
          installationId: identifier.describe('ID of its installation.'),
          privateKeyFile: text.describe('File with the private key of the app, relative to this file.'),
          baseUrl: text
            .optional()
            .describe('URL of the API of GitHub Enterprise Server. Default: https://api.github.com.'),
        })
        .optional()
        .describe('GitHub App that may read the repository, over https.'),
      secretRef: z
        .strictObject({ name: text.describe('Name of the Secret.') })
        .optional()
        .describe('Secret in the same namespace. In Kubernetes only.'),
    })
    .optional()
    .describe('Credentials for a repository.'),
  caFile: text
    .optional()
    .describe(
      'File with CA certificates in PEM, for https servers with a certificate of a private CA, relative to this file.',
    ),
  commitStatus: commitStatus.optional().describe('Host that shows the result of each commit.'),
  interval: interval
    .optional()
    .describe('Interval at which the repository is polled for new commits, such as 1m; `0s` for never.'),
  retryInterval: duration
    .optional()
    .describe(
      'Interval of the first retry after a temporary failure. Each further retry waits longer. Default: the interval.',
    ),
  timeout: duration.optional().describe('Timeout of a git command. Default: 5m.'),
  suspend: z
    .boolean()
    .optional()
    .describe('Whether the source is suspended: it is not read, and objects that were applied stay.'),
  dependsOn: z.array(text).optional().describe('Names of sources that must have been applied before this one.'),
  unknownFields: z
    .enum(['error', 'warn'])
    .optional()
    .describe('Whether fields that Regent does not know are errors or warnings.'),
  variables: z
    .array(z.string().regex(/^(env:\w+\*?|file:.+)$/, 'must be like env:NAME, env:PREFIX_* or file:/folder'))
    .optional()
    .describe('Environment variables and files that documents may use: `env:NAME`, `env:PREFIX_*` and `file:/folder`.'),
  decryption: z
    .strictObject({
      provider: z.enum(['sops']).describe('Format of encrypted documents: sops.'),
      keyFile: text.describe('File with secret keys of age, relative to this file.'),
    })
    .optional()
    .describe('Keys of the documents that SOPS has encrypted. Default: the key of the server.'),
  signersFile: text
    .optional()
    .describe(
      'File with allowed signers of commits, in the format of `gpg.ssh.allowedSignersFile`. Commits without an SSH signature of one of them are not applied.',
    ),
  permissions: z
    .strictObject({
      realms: z.array(text).optional().describe('Realms that the source may declare. Default: all.'),
      roles: grantableRoles
        .optional()
        .describe(
          'Roles that the source may grant: admin roles, and of a tenant also `realm/<role>` and `client/<client>/<role>`, with `*` for any text. Default: all.',
        ),
      ...tenantPermissionFields,
    })
    .optional()
    .describe(
      'Which realms the source may declare, and which roles it may grant. With `kinds` or `names` it is a tenant: it declares only such objects, and no built-in or foreign ones.',
    ),
  ...sourceSettings.shape,
})

/** The spec of a RealmSource. */
export type RealmSourceSpec = z.output<typeof realmSourceSpec>

/** Lists fields that contradict each other, and required ones that are missing. */
export function listContradictions({
  url,
  path,
  ref,
  folder,
  credentials,
  caFile,
  commitStatus,
}: RealmSourceSpec): { field?: string; message: string }[] {
  if (url !== undefined && path !== undefined)
    return [{ field: 'path', message: 'a source cannot have both url and path. Remove one of them.' }]
  if (url === undefined && path === undefined)
    return [{ message: 'a source needs a url (of a git repository) or a path' }]
  if (path === undefined) return listCredentialContradictions(credentials)
  return Object.entries({ ref, folder, credentials, caFile, commitStatus }).flatMap(([field, value]) =>
    value === undefined ? [] : [{ field, message: `${field} requires a url` }],
  )
}

function listCredentialContradictions(credentials: RealmSourceSpec['credentials']) {
  const { passwordFile, identityFile, knownHostsFile, githubApp } = credentials ?? {}
  const kinds = Object.entries({ passwordFile, identityFile, githubApp }).filter(([, value]) => value !== undefined)
  const problems = kinds
    .slice(1)
    .map(([kind]) => `${kind} cannot be combined with ${kinds[0]![0]}. Remove one of them.`)
  if ((identityFile === undefined) !== (knownHostsFile === undefined))
    problems.push('identityFile and knownHostsFile are required together')
  return problems.map((message) => ({ field: 'credentials', message }))
}
