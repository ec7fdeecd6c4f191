// What a source may say of itself in Kubernetes: nothing of the machine that the server runs on.
import * as z from 'zod'
import { realmSourceSpec } from '../reconcile/sources/source-resource.ts'

/**
 * The spec of a RealmSource in Kubernetes. Whoever may write one must not read files or variables of the server by it: they
 * are the setting of whoever runs that.
 */
export const clusterSourceSpec = realmSourceSpec.omit({ path: true, variables: true, signersFile: true }).extend({
  url: z
    .string()
    .regex(/^(https|ssh):\/\/|^[^/:]+@[^/:]+:/, 'must be the https or ssh URL of a repository')
    .describe('URL of a git repository, by https or ssh.'),
  credentials: z
    .strictObject({
      secretRef: z
        .strictObject({ name: z.string().min(1).describe('Name of the Secret.') })
        .describe(
          'Secret of the same namespace, with the keys username and password, and the label regent.dev/secret: "true".',
        ),
    })
    .optional()
    .describe('By what the server logs in to a repository over https.'),
})
