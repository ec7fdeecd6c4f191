// A new realm for each test of a file, and what is done with documents that state something of it.
import { beforeEach } from 'vitest'
import type { KindName } from '../../src/kinds/kind.ts'
import { exportRealm } from '../../src/realm-file/export/export-realm.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { getLiveObject } from './changes.ts'
import { applySource, planText, createSource } from './reconcile.ts'
import { newRealm, testService } from './service.ts'

/** The service, and the realm of the test that runs now. */
export let service: Service
export let realm: string

/** Makes a realm before each test of the file that calls this. */
export function useNewRealmPerTest(): void {
  beforeEach(async () => {
    service = (await testService()).service
    realm = await newRealm(service)
  })
}

/** Goes on in another realm: a new one, or that of a name that there may not be yet. */
export async function switchRealm(name?: string): Promise<void> {
  realm = name ?? (await newRealm(service))
}

/** A source that states something of the realm. */
export const toRealmSource = (...documents: object[]) =>
  createSource(
    documents.map((one) => ({ realm, ...one })),
    realm,
  )
/** Applies what a document states of the realm. */
export const apply = (document: object) => applySource(service, toRealmSource(document))
/** The text of the plan for what a document states of the realm. */
export const plan = (document: object) => planText(service, toRealmSource(document))
/** The realm as an export writes it. */
export const exportDocument = (options: Parameters<typeof exportRealm>[1] = {}) =>
  service.read(SYSTEM, realm, (context) => exportRealm(context, options))
/** A live object of the realm. */
export const getLive = (kind: KindName, ...key: string[]) => getLiveObject(service, SYSTEM, realm, kind, ...key)
