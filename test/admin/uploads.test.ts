// Files in multipart forms.
import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'

const { call, create, createRealm } = await testServer()
const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
const METADATA = `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://idp.example.org">
  <md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    <md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://idp.example.org/sso"/>
  </md:IDPSSODescriptor>
</md:EntityDescriptor>`

/** Returns the uploads of a realm: their address, the text of the file, and the other parts of the form. */
async function listUploads() {
  const realm = await createRealm()
  const client = await create(`${realm}/clients`, { clientId: 'app' })
  const keystoreFormat = 'Public Key PEM'
  return [
    [`${client}/certificates/jwt.credential/upload`, pem, { keystoreFormat }],
    [`${client}/certificates/jwt.credential/upload-certificate`, pem, { keystoreFormat }],
    [`${realm}/identity-provider/upload-certificate`, pem, { keystoreFormat }],
    [`${realm}/identity-provider/import-config`, METADATA, { providerId: 'saml' }],
    [`${realm}/localization/de`, '{"greeting":"Hallo"}', {}],
  ] as const
}

test('each upload reads the file of the part "file" or "input", and returns 400 for other parts', async () => {
  for (const [path, text, fields] of await listUploads()) {
    const upload = async (part: string) => {
      const form = new FormData()
      for (const [name, value] of Object.entries(fields)) form.append(name, value)
      form.append(part, new Blob([text]), 'file.txt')
      const request = new Request('http://localhost', { method: 'POST', body: form })
      const headers = { 'content-type': request.headers.get('content-type')! }
      const { status, body } = await call('POST', path, { body: await request.text(), headers })
      return { status, body }
    }
    const uploaded = await upload('file')
    expect(uploaded.status, path).toBeLessThan(300)
    expect(await upload('input'), path).toEqual(uploaded)
    expect((await upload('files')).status, path).toBe(400)
  }
})
