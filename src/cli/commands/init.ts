import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isDocumentFile } from '../../reconcile/read/file-source.ts'
import { PROJECT_FILE } from '../../reconcile/read/project-file.ts'
import { locateSource } from '../../reconcile/read/source-identity.ts'
import { suggestName, writeProjectFile } from '../inputs/name-source.ts'

const createStarter = (
  realm: string,
) => `# A realm. Regent changes only what is declared here. If you remove an object, the next apply deletes it.
realm: ${realm}
enabled: true
displayName: ${toTitle(realm)}
passwordPolicy: length(12)
bruteForceProtected: true
revokeRefreshToken: true

clients:
  - clientId: my-app
    name: My app
    publicClient: true
    redirectUris:
      - http://localhost:3000/callback
    attributes:
      pkce.code.challenge.method: S256
`

/**
 * `regent init`: writes a realm file, and a project file with a name for the source, unless a project file or a git repository names it
 * and no name is given. Never overwrites a file.
 */
export async function init(file: string, { name }: { readonly name?: string }): Promise<void> {
  if (!isDocumentFile(file))
    throw new Error(`${file} would not be read. Pass a file name that ends with .yaml, .yml or .json.`)
  if (name !== undefined) await refuseOtherName(dirname(file), name)
  await writeFile(file, createStarter(toRealmName(file)), { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') throw new Error(`${file} exists already. Pass another file name.`)
    if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
    throw new Error(`There is no folder ${dirname(file)} (${error.code}). Create it, or pass another file name.`)
  })
  const { project, folder, isInRepository } = await locateSource(file, {})
  if (!project && (name !== undefined || !isInRepository)) await writeProjectFile(folder, name ?? suggestName(folder))
  console.log(`Wrote ${file}. Show its plan with "regent plan ${file}".`)
}

/** Returns the name of the realm in a file: that of the file. */
function toRealmName(file: string): string {
  const name = basename(file)
    .replace(/\.\w+$/, '')
    .replace(/[^\w.-]+/g, '-')
  return name && name !== 'master' ? name : 'my-realm'
}

const toTitle = (name: string): string => (name[0]!.toUpperCase() + name.slice(1)).replaceAll('-', ' ')

/** Throws Error if a project file gives the source of a folder another name. */
async function refuseOtherName(folder: string, name: string): Promise<void> {
  const { project } = existsSync(folder) ? await locateSource(folder, {}) : {}
  if (project && project.name !== name)
    throw new Error(
      `${join(project.folder, PROJECT_FILE)} is there already. Name the source ${name} there, or omit --name.`,
    )
}
