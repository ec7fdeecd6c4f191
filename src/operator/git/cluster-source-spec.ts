// The spec of a RealmSource in Kubernetes: the fields of any source, except those that read files or variables of the server.
import * as z from 'zod'
import { secretReference } from '../../realm-file/resources/resource-fields.ts'
import { realmSourceSpec } from '../../reconcile/read/source-resource.ts'

/** Creates the schema of a reference to a Secret with fixed keys. */
const createSecretReference = (keys: string) =>
  z
    .strictObject({ name: z.string().min(1).describe('Name of the Secret.') })
    .describe(`Secret of the same namespace with the label regent.dev/secret: "true" and the keys ${keys}.`)

/**
 * The schema of the spec. Users who may write RealmSources must not be able to read files or variables of the server: these are
 * settings of the server.
 */
export const clusterSourceSpec = realmSourceSpec.omit({ path: true, variables: true, signersFile: true }).extend({
  url: z
    .string()
    .regex(
      /^https:\/\/[^/@]+\/|^ssh:\/\/|^[^/:@]+@[^/:]+:/,
      'must be the https or ssh URL of a repository, without a password',
    )
    .describe('URL of a git repository: https or ssh, without a password.'),
  credentials: z
    .strictObject({
      secretRef: createSecretReference(
        'username and password, for https; identity (a private key) and known_hosts, for ssh',
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

/** The spec of a RealmSource. */
export type ClusterSourceSpec = z.output<typeof clusterSourceSpec>
