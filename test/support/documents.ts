// A new realm for each test of a file, and what is done with documents that state something of it.
import { beforeEach } from 'vitest'
import type { KindName } from '../../src/kinds/kind.ts'
import { exportRealm } from '../../src/realm-file/export/render.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { liveObject } from './changes.ts'
import { applyAs, planText, source } from './reconcile.ts'
import { newRealm, testService } from './service.ts'

/** The service, and the realm of the test that runs now. */
export let service: Service
export let realm: string

/** Makes a realm before each test of the file that calls this. */
export function realmOfEachTest(): void {
  beforeEach(async () => {
    service = (await testService()).service
    realm = await newRealm(service)
  })
}

/** Goes on in another realm: a new one, or that of a name that there may not be yet. */
export async function goOnIn(name?: string): Promise<void> {
  realm = name ?? (await newRealm(service))
}

/** A source that states something of the realm. */
export const state = (...documents: object[]) =>
  source(
    documents.map((one) => ({ realm, ...one })),
    realm,
  )
/** Applies what a document states of the realm. */
export const apply = (document: object) => applyAs(service, state(document))
/** The text of the plan for what a document states of the realm. */
export const plan = (document: object) => planText(service, state(document))
/** The realm as an export writes it. */
export const exported = (options: Parameters<typeof exportRealm>[1] = {}) =>
  service.read(SYSTEM, realm, (context) => exportRealm(context, options))
/** A live object of the realm. */
export const live = (kind: KindName, ...key: string[]) => liveObject(service, SYSTEM, realm, kind, ...key)
