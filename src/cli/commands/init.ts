import { writeFile } from 'node:fs/promises'

const STARTER = `# A realm. Only what stands here is managed; everything else is left as it is.
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

/** `regent init`: never overwrites. */
export async function init(file: string): Promise<void> {
  await writeFile(file, STARTER, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? new Error(`${file} is there already: name another file`) : error
  })
  console.log(`Wrote ${file}. See what it would do with "regent plan ${file}".`)
}
