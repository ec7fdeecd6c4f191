// The spec of a RealmSource in Kubernetes: the fields of any source, except those that read files or variables of the server.
import * as z from 'zod'
import { secretReference } from '../../realm-file/resources/resource-fields.ts'
import { commitStatusFields, realmSourceSpec } from '../../reconcile/read/source-resource.ts'

/** The version of Flux's objects that the operator reads. */
export const FLUX_VERSION = 'source.toolkit.fluxcd.io/v1'

/** Creates the schema of a reference to a Secret with fixed keys. */
const createSecretReference = (keys: string) =>
  z
    .strictObject({ name: z.string().min(1).describe('Name of the Secret.') })
    .describe(`Secret of the same namespace with the label regent.dev/secret: "true" and the keys ${keys}.`)

/**
 * The schema of the spec. Users who may write RealmSources must not be able to read files or variables of the server: these are
 * settings of the server.
 */
export const clusterSourceSpec = realmSourceSpec
  .omit({ path: true, variables: true, signersFile: true, caFile: true })
  .extend({
    url: z
      .string()
      .regex(
        /^https:\/\/[^/@]+\/|^ssh:\/\/|^[^/:@]+@[^/:]+:/,
        'must be the https or ssh URL of a repository, without a password',
      )
      .optional()
      .describe(
        'URL of a git repository: https or ssh, without a password. Exactly one of url and sourceRef is required.',
      ),
    sourceRef: z
      .strictObject({
        apiVersion: z.enum([FLUX_VERSION]).optional().describe(`Version of the object: ${FLUX_VERSION}.`),
        kind: z
          .enum(['GitRepository', 'OCIRepository'])
          .describe('Kind of the object: GitRepository or OCIRepository.'),
        name: z.string().min(1).describe('Name of the object.'),
        namespace: z
          .string()
          .min(1)
          .optional()
          .describe('Namespace of the object, which must be that of the resource.'),
      })
      .optional()
      .describe(
        'Object of Flux in the same namespace, whose artifact is applied instead of a repository. Exactly one of url and sourceRef is required.',
      ),
    credentials: z
      .strictObject({
        secretRef: createSecretReference(
          'username and password, or githubAppID, githubAppInstallationID, githubAppPrivateKey and optionally githubAppBaseURL, for https; identity (a private key) and known_hosts, for ssh',
        ),
      })
      .optional()
      .describe('Credentials for the repository. Required for ssh.'),
    certSecretRef: createSecretReference('ca.crt')
      .optional()
      .describe(
        'CA certificates in PEM, for https servers with a certificate of a private CA: a Secret of the same namespace with the label regent.dev/secret: "true" and the key ca.crt.',
      ),
    signers: z
      .strictObject({
        secretRef: createSecretReference('allowed_signers, in the format of `gpg.ssh.allowedSignersFile` of git'),
      })
      .optional()
      .describe('SSH keys that may sign commits. A commit that none of them has signed is not applied.'),
    decryption: z
      .strictObject({
        provider: z.enum(['sops']).describe('Format of encrypted documents: sops.'),
        secretRef: z
          .strictObject({ name: z.string().min(1).describe('Name of the Secret.') })
          .describe(
            'Secret of the same namespace with the label regent.dev/secret: "true", and secret keys of age in the keys that end with .agekey.',
          ),
      })
      .optional()
      .describe('Keys of the documents that SOPS has encrypted. Without it, such documents are refused.'),
    commitStatus: z
      .strictObject({
        ...commitStatusFields,
        secretRef: createSecretReference('token, or those of a GitHub App')
          .optional()
          .describe(
            'Secret with a token that may set statuses, in the key token, or with the keys of a GitHub App. Default: the GitHub App of the credentials.',
          ),
      })
      .optional()
      .describe('Host that shows the result of each commit.'),
    webhook: z
      .strictObject({ secretKeyRef: secretReference })
      .optional()
      .describe(
        'Secret that authenticates push notifications, which are sent to /regent/v1/webhook?source=kubernetes:<namespace>/<name>.',
      ),
    deletionPolicy: z
      .enum(['Delete', 'Orphan'])
      .optional()
      .describe(
        'What happens to the declared objects when the resource is deleted: Delete deletes them, Orphan keeps them, unmanaged. Default: Delete.',
      ),
  })

/** Fields that an object of Flux has itself. */
const repositoryFields = ['ref', 'credentials', 'signers', 'interval', 'webhook'] as const

const EXACTLY_ONE = 'exactly one of url and sourceRef is required'
const STATUS_OF_COMMITS = 'commitStatus requires a url, or a sourceRef of the kind GitRepository'
const toRepositoryMessage = (field: string) => `${field} requires a url: an object of Flux has its own`

/** The rules about fields that exclude each other, in CEL. */
export const clusterSourceRules = [
  { rule: 'has(self.url) != has(self.sourceRef)', message: EXACTLY_ONE, fieldPath: '.url' },
  ...repositoryFields.map((field) => ({
    rule: `!has(self.sourceRef) || !has(self.${field})`,
    message: toRepositoryMessage(field),
    fieldPath: `.${field}`,
  })),
  {
    rule: "!has(self.commitStatus) || !has(self.sourceRef) || self.sourceRef.kind == 'GitRepository'",
    message: STATUS_OF_COMMITS,
    fieldPath: '.commitStatus',
  },
]

/** Lists the messages of the rules that a spec violates. */
export function listSourceContradictions(spec: ClusterSourceSpec): string[] {
  const { url, sourceRef, commitStatus } = spec
  if ((url === undefined) === (sourceRef === undefined)) return [EXACTLY_ONE]
  if (!sourceRef) return []
  const fields = repositoryFields.filter((field) => spec[field] !== undefined)
  return [
    ...fields.map(toRepositoryMessage),
    ...(commitStatus && sourceRef.kind !== 'GitRepository' ? [STATUS_OF_COMMITS] : []),
  ]
}

/** The spec of a RealmSource. */
export type ClusterSourceSpec = z.output<typeof clusterSourceSpec>
