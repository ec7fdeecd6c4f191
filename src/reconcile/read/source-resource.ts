// A source as a resource: what a file of sources holds, and what its resource in Kubernetes says.
import * as z from 'zod'
import { adminRoles } from '../../kinds/admin-roles.ts'
import { duration } from '../../realm-file/resources/duration.ts'
import { sourceSettings } from '../../service/journal/source-settings.ts'

const text = z.string().min(1, 'must not be empty')

/** What a resource says of a source. */
export const realmSourceSpec = z.strictObject({
  url: text.optional().describe('URL of a git repository, by https, ssh or file. Instead of it: path.'),
  ref: text
    .optional()
    .describe('Branch, tag or whole commit of the repository; absent: the branch that it calls its own.'),
  folder: text.optional().describe('Folder or file within the repository; absent: all of it.'),
  path: text
    .optional()
    .describe('File or folder of the machine that the server runs on, relative to this file. Instead of it: url.'),
  credentials: z
    .strictObject({
      username: text.optional().describe('User of the repository; many hosts take any name with a token.'),
      passwordFile: text.optional().describe('File with the password or token, relative to this file.'),
      secretRef: z
        .strictObject({ name: text.describe('Name of the Secret.') })
        .optional()
        .describe('Secret of the same namespace with the keys `username` and `password`; in Kubernetes only.'),
    })
    .optional()
    .describe('By what the server logs in to a repository over https.'),
  interval: duration.optional().describe('How often the repository is asked for another commit, such as 1m.'),
  retryInterval: duration
    .optional()
    .describe('After how long what failed for a reason that may pass is tried again; then less and less often.'),
  timeout: duration.optional().describe('How long one command of git may take.'),
  suspend: z.boolean().optional().describe('It is not read, and what was applied stays.'),
  dependsOn: z
    .array(text)
    .optional()
    .describe('Names of sources: this one is applied once each of these has been applied.'),
  unknownFields: z
    .enum(['error', 'warn'])
    .optional()
    .describe('What becomes of fields that Regent does not know: an error, or a note.'),
  variables: z
    .array(z.string().regex(/^(env:\w+\*?|file:.+)$/, 'must be like env:NAME, env:PREFIX_* or file:/folder'))
    .optional()
    .describe('What documents may take values from: `env:NAME`, `env:PREFIX_*` and `file:/folder`.'),
  signersFile: text
    .optional()
    .describe('File that names whose SSH signatures of commits count: what nobody of them has signed is not applied.'),
  limits: z
    .strictObject({
      realms: z.array(text).optional().describe('The realms that it may state; absent: all.'),
      roles: z
        .array(z.enum(adminRoles))
        .optional()
        .describe('The administrative roles that it may give at most; absent: all.'),
    })
    .optional()
    .describe('What the source may touch, and which administrative power it gives at most.'),
  ...sourceSettings.shape,
})

/** What a resource says of a source. */
export type RealmSourceSpec = z.output<typeof realmSourceSpec>

/** What cannot be said together, and what is missing: the field, and why. */
export function contradictions({
  url,
  path,
  ref,
  folder,
  credentials,
}: RealmSourceSpec): [field: string, why: string][] {
  if (url !== undefined && path !== undefined) return [['path', 'a source has a url or a path: keep one of them']]
  if (url === undefined && path === undefined) return [['', 'a source has a url, of a git repository, or a path']]
  if (path === undefined) return []
  const ofRepositories = { ref, folder, credentials }
  return Object.entries(ofRepositories).flatMap(([field, value]) =>
    value === undefined ? [] : [[field, `${field} goes with a url`] as [string, string]],
  )
}
