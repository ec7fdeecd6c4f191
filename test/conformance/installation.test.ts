// Installation documents of clients with different settings, compared with those that were recorded from Keycloak.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'

interface RecordedInstallation {
  readonly client: { readonly clientId: string }
  /** Names of the client's own roles. */
  readonly roles: readonly string[]
  readonly documents: Readonly<Record<string, string>>
}

const recorded: RecordedInstallation[] = JSON.parse(
  readFileSync(join(import.meta.dirname, 'installation.json'), 'utf8'),
)
const { app, adminToken, create, createRealm } = await testServer()

test.each(recorded)('$client.clientId: the documents are those of Keycloak', async ({ client, roles, documents }) => {
  const path = await createRealm()
  const address = await create(`${path}/clients`, client)
  for (const name of roles) await create(`${address}/roles`, { name })
  for (const [format, expected] of Object.entries(documents)) {
    const response = await app.inject({
      url: `${address}/installation/providers/${format}`,
      headers: { authorization: `Bearer ${await adminToken()}` },
    })
    const [, server] = /(https?:\/\/[^/]+)\/realms/.exec(response.body) ?? /(https?:\/\/[^/]+)\//.exec(response.body)!
    const text = expected.replaceAll('{{server}}', server!).replaceAll('{{realm}}', path.split('/').at(-1)!)
    expect(normalize(format, response.body)).toEqual(normalize(format, text))
  }
})

/** Removes what is new in each document and line breaks at its end, and adds the parenthesis that Keycloak's commands lack. */
function normalize(format: string, document: string): unknown {
  if (format === 'keycloak-oidc-keycloak-json') return JSON.parse(document)
  const text = document.replace(/ID_[0-9a-f-]{36}/, 'ID_<uuid>').trimEnd()
  return format === 'keycloak-saml-subsystem-cli' ? text.replace(/PAGE!"$/m, 'PAGE!")') : text
}
