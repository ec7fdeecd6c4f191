// Properties: apply, then plan, is empty; export, then plan, is empty; an export recreates the realm.
import { existsSync, readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import type { Representation } from '../../src/kinds/json.ts'
import { exportRealm } from '../../src/realm-file/export/export-realm.ts'
import { substituteVariables } from '../../src/realm-file/substitute-variables.ts'
import { type Document, deriveDocument } from '../../src/realm-file/yaml/document.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { isFullRun } from '../support/property-options.ts'
import { openNewService } from '../support/service.ts'
import { applySource, createSource, planText } from '../support/sources.ts'

const shared = new URL('../../../shared/data/realms/', import.meta.url)
const example = new URL('../../examples/acme.yaml', import.meta.url)
const realFiles = [
  'acme-apps.yaml',
  'acme-internal.yaml',
  'benchmark.yaml',
  'fgap-v2.json',
  'master-export-26.5.5.json',
  'moped.json',
  'rest-authz.json',
  'servlet-authz-client.json',
  'servlet-saml.json',
  'userprofile.yaml',
].map((name) => new URL(name, shared))
const files = [example, ...realFiles].map((file) => [file.pathname.split('/').at(-1)!, file] as const)

/** Values of the variables that have no default. */
const env = Object.fromEntries(
  ['ACME_AZURE_AAD_TENANT_URL', 'APPS_FRONTEND_URL_GREETME', 'APPS_FRONTEND_URL_MINISPA', 'KEYCLOAK_FRONTEND_URL'].map(
    (name) => [name, `https://${name.toLowerCase().replaceAll('_', '-')}.example.org`],
  ),
)

/** Returns the documents of a file, with the given name of the realm. */
function readDocuments(file: URL, name?: string): Document[] {
  return createSource([readFileSync(file, 'utf8')], file.pathname.split('/').at(-1)!).documents.map((document) => {
    const documents = substituteVariables(document, { env, readFile: undefined, isAllowed: () => true })
    return name === undefined
      ? documents
      : deriveDocument(documents, { ...(documents.value as Representation), realm: name })
  })
}

const first = await openNewService()
const second = await openNewService()
for (const service of [first, second])
  await service.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
afterAll(async () => {
  await first.close()
  await second.close()
})

describe.each(files)('%s', (name, file) => {
  test.skipIf(!existsSync(file))(
    'the plans after an apply and of an export are empty, and the minimal export recreates the realm',
    async () => {
      const realm = name === 'master-export-26.5.5.json' ? 'master' : name.replace(/\.\w+$/, '')
      const state = { name, revision: 'file', documents: readDocuments(file, realm), files: [] }
      expect(await planText(first, state)).toMatch(/to create/)
      await applySource(first, state)
      expect(await planText(first, state)).toContain('Nothing to do.')
      expect(await planText(first, { ...state, name: `${name} again` })).toContain('Nothing to do.')

      const read = (service: Service, full: boolean) =>
        service.read(SYSTEM, realm, (context) => exportRealm(context, { secrets: true, full }))
      const [minimal, full] = [await read(first, false), await read(first, true)]
      for (const exported of [full, minimal])
        expect(await planText(first, createSource([exported], `${name} exported`))).toContain('Nothing to do.')

      await applySource(second, createSource([minimal], name))
      expect(await read(second, true)).toEqual(full)
      expect(await read(second, false)).toEqual(minimal)
    },
  )
})

test.runIf(isFullRun && existsSync(shared))(
  'all files are applied together in any order, including the export of a master realm under another name',
  async () => {
    for (const order of [realFiles, realFiles.toReversed()]) {
      const service = await openNewService()
      await service.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
      const documents = order.flatMap((file) => readDocuments(file, `all-${file.pathname.split('/').at(-1)}`))
      const state = { name: 'all', revision: 'files', documents, files: [] }
      await applySource(service, state)
      expect((await service.listRealms()).length).toBe(realFiles.length + 1)
      expect(await planText(service, { ...state, name: 'all again' })).toContain('Nothing to do.')
      await service.close()
    }
  },
)
