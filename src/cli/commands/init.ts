import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { version } from '../../lib/version.ts'
import { isDocumentFile } from '../../reconcile/read/file-source.ts'
import { PROJECT_FILE } from '../../reconcile/read/project-file.ts'
import { locateSource } from '../../reconcile/read/source-identity.ts'
import { suggestName, writeProjectFile } from '../inputs/name-source.ts'

/** The name of a template. */
export type TemplateName = keyof typeof templates

/** A browser application with PKCE. */
const BROWSER_CLIENT = `clients:
  - clientId: my-app
    name: My app
    publicClient: true
    redirectUris:
      - http://localhost:3000/callback
    attributes:
      pkce.code.challenge.method: S256
`

/** The text of each template below the settings of the realm. */
const templates = {
  spa: `
${BROWSER_CLIENT}`,
  service: `
clients:
  - clientId: my-service
    name: My service
    standardFlowEnabled: false
    serviceAccountsEnabled: true
    # Print it with: regent secret get REALM SOURCE my-service
    secret: $(generated:my-service)

roles:
  client:
    my-service:
      - name: read
        description: Read access to the API
`,
  b2b: `organizationsEnabled: true

organizations:
  - name: Example customer
    alias: example-customer
    domains:
      - name: customer.example

${BROWSER_CLIENT}`,
  minimal: '',
} as const

/** The schema of this version in the repository, which editors load. */
const SCHEMA = `https://raw.githubusercontent.com/regent-iam/regent/v${version}/schema/realm.schema.json`

const createStarter = (realm: string, template: TemplateName) => `# yaml-language-server: $schema=${SCHEMA}
realm: ${realm} # Regent changes only what is declared here. If you remove an object, the next apply deletes it.
enabled: true
displayName: ${toTitle(realm)}
passwordPolicy: length(12)
bruteForceProtected: true
revokeRefreshToken: true
${templates[template]}`

/**
 * `regent init`: writes a realm file, and a project file with a name for the source, unless a project file or a git repository names it
 * and no name is given. Never overwrites a file.
 */
export async function init(
  file: string,
  { name, template = 'spa' }: { readonly name?: string; readonly template?: TemplateName },
): Promise<void> {
  if (!isDocumentFile(file))
    throw new Error(`${file} would not be read. Pass a file name that ends with .yaml, .yml or .json.`)
  if (name !== undefined) await refuseOtherName(dirname(file), name)
  await writeFile(file, createStarter(toRealmName(file), template), { flag: 'wx' }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') throw new Error(`${file} exists already. Pass another file name.`)
      if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
      throw new Error(`There is no folder ${dirname(file)} (${error.code}). Create it, or pass another file name.`)
    },
  )
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
