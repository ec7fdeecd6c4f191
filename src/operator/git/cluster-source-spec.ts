// What a source may say of itself in Kubernetes: nothing of the machine that the server runs on.
import * as z from 'zod'
import { secretReference } from '../realm-file/resources/resource-fields.ts'
import { realmSourceSpec } from '../reconcile/read/source-resource.ts'

const secretOf = (keys: string) =>
  z
    .strictObject({ name: z.string().min(1).describe('Name of the Secret.') })
    .describe(`Secret of the same namespace, with the label regent.dev/secret: "true" and the keys ${keys}.`)

/**
 * The spec of a RealmSource in Kubernetes. Whoever may write one must not read files or variables of the server by it: they
 * are the setting of whoever runs that.
 */
export const clusterSourceSpec = realmSourceSpec.omit({ path: true, variables: true, signersFile: true }).extend({
  url: z
    .string()
    .regex(
      /^https:\/\/[^/@]+\/|^ssh:\/\/|^[^/:@]+@[^/:]+:/,
      'must be the https or ssh URL of a repository, without a password',
    )
    .describe('URL of a git repository, by https or ssh.'),
  credentials: z
    .strictObject({
      secretRef: secretOf('username and password, for https; identity (a private key) and known_hosts, for ssh'),
    })
    .optional()
    .describe('By what the server logs in to the repository; for ssh it must be there.'),
  signers: z
    .strictObject({ secretRef: secretOf('allowed_signers, as `gpg.ssh.allowedSignersFile` of git has it') })
    .optional()
    .describe('Whose SSH signatures of commits count: what nobody of them has signed is not applied.'),
  webhook: z
    .strictObject({ secretKeyRef: secretReference })
    .optional()
    .describe('The secret by which pushes are told, at /regent/v1/webhook?source=kubernetes:<namespace>/<name>.'),
  deletionPolicy: z
    .enum(['Delete', 'Orphan'])
    .optional()
    .describe(
      'What becomes of what the source states when the resource is deleted: it goes with it, or stays. Delete unless it says otherwise.',
    ),
})

/** What a RealmSource says. */
export type ClusterSourceSpec = z.output<typeof clusterSourceSpec>
