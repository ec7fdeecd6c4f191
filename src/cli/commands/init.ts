import { writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

const STARTER = `# A realm. Regent changes only what is declared here. If you remove an object, the next apply deletes it.
realm: my-realm
enabled: true
displayName: My realm
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

/** `regent init`: writes a realm file. Never overwrites one. */
export async function init(file: string): Promise<void> {
  await writeFile(file, STARTER, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') throw new Error(`${file} exists already. Pass another file name.`)
    if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
    throw new Error(`There is no folder ${dirname(file)} (${error.code}). Create it, or pass another file name.`)
  })
  console.log(`Wrote ${file}. Show its plan with "regent plan ${file}".`)
}
